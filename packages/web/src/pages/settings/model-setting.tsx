import { useMutation, useQuery } from '@tanstack/react-query';
import type { ModelInfo, ModelProbe } from '@tendon/client';
import { useId } from 'react';
import { money } from '../../copy/figures.ts';
import { modelForKey } from '../../lib/models.ts';
import { modelsQuery, tendon } from '../../lib/server.ts';
import { useFormDraft } from '../../lib/use-form-draft.ts';
import { Button } from '../../ui/button.tsx';
import { ListSection } from './list-section.tsx';
import { type OtherModels, OtherModelFields } from './other-model-fields.tsx';
import { SettingField, SettingForm, SettingSection } from './setting-form.tsx';
import { t, textKey } from '../../lib/language/text.ts';

/** The model of conversations that chose none: by name, with its key and address, and tried with a real question. */
export function ModelSetting() {
  return (
    <>
      <SettingSection
        title={t('Model')}
        about={t('Conversations that choose none use this one, from their next turn on. The key never comes back to the browser.')}
      >
        {({ llm_model: model, llm_base_url: address, llm_api_key_set: hasKey = false }) => (
          <ModelForm model={model ?? ''} address={address ?? ''} hasKey={hasKey} />
        )}
      </SettingSection>
      <OtherModelsSetting />
      <ModelsInUse />
    </>
  );
}

/** What stands beside the model. */
function OtherModelsSetting() {
  return (
    <SettingSection
      title={t('Effort, stand-in and small model')}
      about={t(
        'For conversations that choose none of their own. What is left empty is as the server was started; the list below says what that is.',
      )}
    >
      {({ llm_effort: effort = null, llm_fallback_model: fallback = null, llm_small_model: small = null }) => (
        <OtherModelsForm stored={{ effort, fallback, small }} />
      )}
    </SettingSection>
  );
}

function OtherModelsForm({ stored }: { readonly stored: OtherModels }) {
  const draft = useFormDraft(stored);
  const { effort, fallback, small } = draft.shown;
  return (
    <SettingForm draft={draft} changes={{ llm_effort: effort, llm_fallback_model: fallback, llm_small_model: small }}>
      <OtherModelFields chosen={draft.shown} onChoose={draft.write} />
    </SettingForm>
  );
}

interface StoredModel {
  readonly model: string;
  readonly address: string;
  readonly hasKey: boolean;
}

function ModelForm({ hasKey, ...stored }: StoredModel) {
  const draft = useFormDraft({ ...stored, key: '' });
  const { model, address, key } = draft.shown;
  const offered = useQuery(modelsQuery);
  const list = useId();
  const name = model.trim() || (key ? modelForKey(key) : '');
  const isWhole = name !== '' && (address === '' || URL.canParse(address)) && (key === '' || key.trim().length >= 8);
  const changes = { llm_model: name, llm_base_url: address.trim(), ...(key && { llm_api_key: key.trim() }) };
  return (
    <>
      <SettingForm draft={draft} changes={isWhole ? changes : undefined}>
        <SettingField
          label={t('Name')}
          list={list}
          placeholder="anthropic/claude-sonnet-4-20250514"
          hint={
            model.trim() === '' && key
              ? t('Will use {{name}}', { name })
              : t('A provider and its name for the model, or any name that the address knows.')
          }
          value={model}
          onChange={(event) => draft.write({ model: event.target.value })}
        />
        <datalist id={list}>
          {offered.data?.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
        <SettingField
          label={t('Key')}
          type="password"
          autoComplete="off"
          placeholder={hasKey ? t('A key is set; another one replaces it') : t('None is set')}
          value={key}
          onChange={(event) => draft.write({ key: event.target.value })}
        />
        <SettingField
          label={t('Address, if it is not the provider’s own')}
          placeholder="http://127.0.0.1:11434/v1"
          value={address}
          onChange={(event) => draft.write({ address: event.target.value })}
        />
      </SettingForm>
      <ModelTest />
    </>
  );
}

const USES = {
  main: textKey('works'),
  small: textKey('judges and explores'),
  fallback: textKey('stands in when the first does not answer'),
} as const;

/** Which models do what, and what they have shown that they can. */
function ModelsInUse() {
  const models = useQuery({ queryKey: ['models-in-use'], queryFn: tendon.models.list, retry: false });
  return (
    <ListSection
      title={t('Models in use')}
      about={t(
        'Of conversations that choose none. Where the server is started they are LLM_MODEL, LLM_FALLBACK_MODEL, LLM_SMALL_MODEL and LLM_REASONING_EFFORT.',
      )}
      list={models}
      none={t('No model is in use.')}
    >
      {(found) => (
        <li key={found.model}>
          <code className="truncate">{found.model}</code>
          <span className="text-small text-ink-3">
            {[found.use && t(USES[found.use]), ...abilities(found)].filter(Boolean).join(', ') || t('not tried yet')}
          </span>
        </li>
      )}
    </ListSection>
  );
}

/** Asks the stored model a few short questions, as `tendon models probe` does. */
function ModelTest() {
  const test = useMutation({ mutationFn: () => tendon.models.probe() });
  return (
    <div className="setting-form">
      <div className="flex items-center gap-2">
        <Button look="line" disabled={test.isPending} onClick={() => test.mutate()}>
          {test.isPending ? t('Asking the model') : t('Test the saved model')}
        </Button>
      </div>
      <p role="status" className="text-small">
        {test.isSuccess && <TestResult found={test.data} />}
        {test.isError && <span className="text-bad">{test.error.message}</span>}
      </p>
    </div>
  );
}

/** What is known of them. */
function abilities({ tools, parallel_calls: parallel, images, context_window: size }: ModelInfo): readonly string[] {
  const known = [
    tools !== null && (tools ? t('tools') : t('calls written into its text')),
    parallel && t('several calls at once'),
    images && t('pictures'),
    size !== null && t('a window of {{count}} tokens', { count: size }),
  ];
  return known.filter((words) => typeof words === 'string');
}

function TestResult({ found }: { readonly found: ModelProbe }) {
  if (found.failure !== null) return <span className="text-bad">{found.failure}</span>;
  return (
    <span className="text-ok">
      {t('{{model}} works: {{abilities}}. Asking cost {{cost}}.', {
        model: found.model,
        abilities: abilities(found).join(', '),
        cost: `${t('{{count}} tokens', { count: found.tokens })}${found.cost_usd > 0 ? `, ${money(found.cost_usd)}` : ''}`,
      })}
    </span>
  );
}
