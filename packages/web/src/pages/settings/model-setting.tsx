import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { modelForKey } from '../../lib/models.ts';
import { modelsQuery, tendon } from '../../lib/server.ts';
import { useFormDraft } from '../../lib/use-form-draft.ts';
import { ListSection } from './list-section.tsx';
import { isWholeAccess, ModelAccessFields } from './model-access.tsx';
import { abilities, ModelTest } from './model-test.tsx';
import { OtherModelsSetting } from './other-models-setting.tsx';
import { SettingField, SettingForm, SettingSection } from './setting-form.tsx';
import { t, textKey } from '../../lib/language/text.ts';

/** The default model: its name, key and address, and a test with a real request. */
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
  const isWhole = name !== '' && isWholeAccess(draft.shown);
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
        <ModelAccessFields
          shown={draft.shown}
          labels={{ key: t('Key'), address: t('Address, if it is not the provider’s own') }}
          hasKey={hasKey}
          noKey={t('None is set')}
          onWrite={draft.write}
        />
      </SettingForm>
      <ModelTest label={t('Test the saved model')} />
    </>
  );
}

const USES = {
  main: textKey('works'),
  small: textKey('judges and explores'),
  fallback: textKey('stands in when the first does not answer'),
} as const;

/** The models by purpose, and what a probe has found that they can do. */
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
        <li key={found.model} className="flex-wrap">
          <code className="truncate">{found.model}</code>
          <span className="text-small text-ink-3">
            {[found.use && t(USES[found.use]), ...abilities(found)].filter(Boolean).join(', ') || t('not tried yet')}
          </span>
          {found.use && found.use !== 'main' && <ModelTest model={found.model} label={t('Test {{model}}', { model: found.model })} />}
        </li>
      )}
    </ListSection>
  );
}
