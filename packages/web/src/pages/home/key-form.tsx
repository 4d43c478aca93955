import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { modelForKey } from './model-for-key.ts';
import { useModel } from './use-model.ts';

/** A key is enough: its first letters name the provider, and the model follows from that. */
export function KeyForm() {
  const [key, setKey] = useState('');
  const use = useModel();
  const model = modelForKey(key);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (key.trim().length >= 8) use.mutate({ llm_api_key: key.trim(), llm_model: model });
      }}
    >
      <div className="guide-act">
        <input
          className="field"
          type="password"
          autoComplete="off"
          aria-label="API key"
          placeholder="Paste a key"
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
        <Button
          type="submit"
          look="line"
          disabled={key.trim().length < 8}
          title={key.trim().length < 8 ? 'A key has at least 8 characters' : undefined}
        >
          Use key
        </Button>
      </div>
      {key.trim().length >= 8 && !use.isError && <p className="pt-1 text-small text-ink-3">Will use {model}</p>}
      {use.isError && (
        <p role="alert" className="pt-1 text-small text-bad">
          {use.error.message}
        </p>
      )}
    </form>
  );
}
