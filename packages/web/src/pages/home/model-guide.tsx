import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ModelProbe, SettingsPatch } from '@tendon/client';
import { KeyRound, Link as LinkIcon, Server } from 'lucide-react';
import { type ComponentProps, useState } from 'react';
import { localServers, modelForKey } from '../../lib/models.ts';
import { modelsQuery, tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Late } from '../../ui/placeholder.tsx';
import { focusOnMount, Popup } from '../../ui/popup.tsx';
import { t } from '../../lib/language/text.ts';

/** While no model is set, and until the one that was given here has answered or a person goes on. Nothing is chosen silently. */
export function ModelGuide({ isDemo }: { readonly isDemo: boolean }) {
  const use = useModel();
  const trouble = use.error?.message ?? use.data?.failure ?? undefined;
  if (!isDemo && !use.isPending && trouble === undefined) return undefined;
  return (
    <section className="guide" aria-labelledby="guide-heading">
      <header>
        <h2 id="guide-heading">{isDemo ? t('You are on the demo model') : t('Your model')}</h2>
        <p className="flex-1 text-ink-2">{isDemo && t('Its answers are scripted. What it does in the sandbox is real.')}</p>
      </header>
      <div className="guide-ways">
        <div>
          <h3>
            <Icon of={Server} small />
            {t('Running on this machine')}
          </h3>
          <LocalWay onUse={use.mutate} />
        </div>
        <div>
          <h3>
            <Icon of={KeyRound} small />
            {t('A key from a provider')}
          </h3>
          <p className="text-ink-2">{t('OpenAI, Anthropic, Google and others')}</p>
          <KeyForm onUse={use.mutate} />
        </div>
        <div>
          <h3>
            <Icon of={LinkIcon} small />
            {t('Your own endpoint')}
          </h3>
          <p className="text-ink-2">{t('Any OpenAI-compatible API')}</p>
          <AddressForm onUse={use.mutate} />
        </div>
      </div>
      <div role="status">
        {use.isPending && <p className="guide-answer text-ink-2">{t('Asking the model')}</p>}
        {trouble !== undefined && (
          <div className="guide-answer">
            <p className="flex-1 text-bad">{trouble}</p>
            {!isDemo && (
              <Button look="line" onClick={use.reset}>
                {t('Use it all the same')}
              </Button>
            )}
          </div>
        )}
      </div>
    </section>
  );
}

interface WayProps {
  readonly onUse: (settings: SettingsPatch) => void;
}

/** Model servers that answer on the server's machine; one is used only when a person says so. */
function LocalWay({ onUse }: WayProps) {
  const offered = useQuery(modelsQuery);
  if (offered.isPending) return <Late>{t('Looking for model servers')}</Late>;
  const [found] = localServers(offered.data ?? []);
  if (!found) {
    return (
      <>
        <p className="text-ink-2">{t('None found. Looked for Ollama, LM Studio, vLLM')}</p>
        <div className="guide-act">
          <Button look="line" isBusy={offered.isFetching} onClick={() => void offered.refetch()}>
            {offered.isFetching ? t('Searching') : t('Search again')}
          </Button>
        </div>
      </>
    );
  }
  const [model] = found.models;
  return (
    <>
      <p className="truncate text-ink-2">
        {found.name}, {t('{{count}} models', { count: found.models.length })}, {found.address}
      </p>
      <div className="guide-act">
        <Button look="line" onClick={() => onUse({ llm_model: model!, llm_base_url: '' })}>
          <span className="truncate">{t('Use {{name}}', { name: model!.slice(model!.indexOf('/') + 1) })}</span>
        </Button>
      </div>
    </>
  );
}

/** A key is enough: its first letters name the provider, and the model follows from that. */
function KeyForm({ onUse }: WayProps) {
  const [key, setKey] = useState('');
  const model = modelForKey(key);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (key.trim().length >= 8) onUse({ llm_api_key: key.trim(), llm_model: model, llm_base_url: '' });
      }}
    >
      <div className="guide-act">
        <input
          className="field"
          type="password"
          autoComplete="off"
          aria-label={t('API key')}
          placeholder={t('Paste a key')}
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
        <Button
          type="submit"
          look="line"
          disabled={key.trim().length < 8}
          title={key.trim().length < 8 ? t('A key has at least 8 characters') : undefined}
        >
          {t('Use key')}
        </Button>
      </div>
      {key.trim().length >= 8 && <p className="pt-1 text-small text-ink-3">{t('Will use {{name}}', { name: model })}</p>}
    </form>
  );
}

/** An OpenAI-compatible address and the model to ask there. */
function AddressForm({ onUse }: WayProps) {
  const [address, setAddress] = useState('');
  const [model, setModel] = useState('');
  const [key, setKey] = useState('');
  const isWhole = URL.canParse(address) && model.trim() !== '';
  return (
    <div className="guide-act">
      <Popup
        label={t('Enter an address')}
        side="below"
        button={(popup) => (
          <Button look="line" {...popup}>
            {t('Enter an address')}
          </Button>
        )}
      >
        {(close) => (
          <form
            className="flex w-80 max-w-full flex-col gap-2 p-2"
            onSubmit={(event) => {
              event.preventDefault();
              if (!isWhole) return;
              close();
              onUse({ llm_base_url: address, llm_model: model.trim(), ...(key && { llm_api_key: key }) });
            }}
          >
            <TextField
              label={t('Address')}
              value={address}
              placeholder="http://127.0.0.1:11434/v1"
              ref={focusOnMount}
              onChange={(event) => setAddress(event.target.value)}
            />
            <TextField label={t('Model')} value={model} placeholder="openai/my-model" onChange={(event) => setModel(event.target.value)} />
            <TextField
              label={t('API key (optional)')}
              type="password"
              autoComplete="off"
              value={key}
              onChange={(event) => setKey(event.target.value)}
            />
            <Button type="submit" look="line" disabled={!isWhole} title={isWhole ? undefined : t('An address and a model are needed')}>
              {t('Use this model')}
            </Button>
          </form>
        )}
      </Popup>
    </div>
  );
}

function TextField({ label, ...input }: { readonly label: string } & ComponentProps<'input'>) {
  return (
    <label className="flex flex-col gap-1">
      {label}
      <input className="field w-full flex-none" {...input} />
    </label>
  );
}

/** Stores a model with what it needs, and asks it a few short questions: from then on the server uses it, whatever it answers. */
function useModel() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (settings: SettingsPatch): Promise<ModelProbe> => {
      await tendon.settings.patch(settings);
      await queries.invalidateQueries({ queryKey: ['settings'] });
      return tendon.models.probe();
    },
  });
}
