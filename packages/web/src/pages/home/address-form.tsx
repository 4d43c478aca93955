import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Popup } from '../../ui/popup.tsx';
import { useModel } from './use-model.ts';

/** An OpenAI-compatible address and the model to ask there. */
export function AddressForm() {
  const [address, setAddress] = useState('');
  const [model, setModel] = useState('');
  const [key, setKey] = useState('');
  const use = useModel();
  const isWhole = URL.canParse(address) && model.trim() !== '';
  return (
    <div className="guide-act">
      <Popup
        label="Enter an address"
        side="below"
        button={(popup) => (
          <Button look="line" {...popup}>
            Enter an address
          </Button>
        )}
      >
        {() => (
          <form
            className="flex w-80 max-w-full flex-col gap-2 p-2"
            onSubmit={(event) => {
              event.preventDefault();
              if (isWhole) use.mutate({ llm_base_url: address, llm_model: model.trim(), ...(key && { llm_api_key: key }) });
            }}
          >
            <label className="flex flex-col gap-1">
              Address
              <input
                className="field w-full flex-none"
                value={address}
                placeholder="http://127.0.0.1:11434/v1"
                ref={focusOnce}
                onChange={(event) => setAddress(event.target.value)}
              />
            </label>
            <label className="flex flex-col gap-1">
              Model
              <input
                className="field w-full flex-none"
                value={model}
                placeholder="openai/name-of-the-model"
                onChange={(event) => setModel(event.target.value)}
              />
            </label>
            <label className="flex flex-col gap-1">
              Key, if it needs one
              <input
                className="field w-full flex-none"
                type="password"
                autoComplete="off"
                value={key}
                onChange={(event) => setKey(event.target.value)}
              />
            </label>
            <Button type="submit" look="line" disabled={!isWhole} title={isWhole ? undefined : 'An address and a model are needed'}>
              Use this model
            </Button>
            {use.isError && (
              <p role="alert" className="text-small text-bad">
                {use.error.message}
              </p>
            )}
          </form>
        )}
      </Popup>
    </div>
  );
}

function focusOnce(field: HTMLInputElement | null): void {
  field?.focus();
}
