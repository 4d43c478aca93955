import type { SettingsPatch } from '@tendon/client';
import { t, textKey } from '../../lib/language/text.ts';
import { useFormDraft } from '../../lib/use-form-draft.ts';
import { isWholeAccess, type ModelAccess, ModelAccessFields } from './model-access.tsx';
import { type OtherModels, OtherModelFields } from './other-model-fields.tsx';
import { SettingForm, SettingSection } from './setting-form.tsx';

/** The secondary models, each with its own key and address if it is at another provider. */
export function OtherModelsSetting() {
  return (
    <SettingSection
      title={t('Effort, stand-in and small model')}
      about={t(
        'For conversations that choose none of their own. What is left empty is as the server was started; the list below says what that is.',
      )}
    >
      {(stored) => (
        <OtherModelsForm
          models={{
            effort: stored.llm_effort ?? null,
            fallback: stored.llm_fallback_model ?? null,
            small: stored.llm_small_model ?? null,
          }}
          fallback={{ address: stored.llm_fallback_base_url ?? '', hasKey: stored.llm_fallback_api_key_set ?? false }}
          small={{ address: stored.llm_small_base_url ?? '', hasKey: stored.llm_small_api_key_set ?? false }}
        />
      )}
    </SettingSection>
  );
}

interface StoredAccess {
  readonly address: string;
  readonly hasKey: boolean;
}

interface OtherModelsFormProps {
  readonly models: OtherModels;
  readonly fallback: StoredAccess;
  readonly small: StoredAccess;
}

function OtherModelsForm({ models, fallback, small }: OtherModelsFormProps) {
  const draft = useFormDraft(models);
  const accesses = {
    fallback: useFormDraft({ key: '', address: fallback.address }),
    small: useFormDraft({ key: '', address: small.address }),
  };
  const all = [draft, accesses.fallback, accesses.small];
  const whole = {
    isEdited: all.some(({ isEdited }) => isEdited),
    send() {
      const sent = all.map(({ send }) => send());
      return () => sent.forEach((done) => done());
    },
  };
  const access = { fallback: accesses.fallback.shown, small: accesses.small.shown };
  const isWhole = Object.values(access).every(isWholeAccess);
  return (
    <SettingForm draft={whole} changes={isWhole ? changesOf(draft.shown, access) : undefined}>
      <OtherModelFields
        chosen={draft.shown}
        onChoose={draft.write}
        access={(use) => (
          <ModelAccessFields
            shown={access[use]}
            labels={{ key: t(LABELS[use].key), address: t(LABELS[use].address) }}
            hasKey={(use === 'fallback' ? fallback : small).hasKey}
            noKey={t('None: that of the model, where it is the same provider’s')}
            onWrite={accesses[use].write}
          />
        )}
      />
    </SettingForm>
  );
}

function changesOf({ effort, fallback, small }: OtherModels, access: Readonly<Record<keyof typeof LABELS, ModelAccess>>): SettingsPatch {
  const [forFallback, forSmall] = [access.fallback.key.trim(), access.small.key.trim()];
  return {
    llm_effort: effort,
    llm_fallback_model: fallback,
    llm_fallback_base_url: access.fallback.address.trim(),
    ...(forFallback && { llm_fallback_api_key: forFallback }),
    llm_small_model: small,
    llm_small_base_url: access.small.address.trim(),
    ...(forSmall && { llm_small_api_key: forSmall }),
  };
}

const LABELS = {
  fallback: { key: textKey('Key of the stand-in'), address: textKey('Address of the stand-in, if it is not the provider’s own') },
  small: { key: textKey('Key of the small model'), address: textKey('Address of the small model, if it is not the provider’s own') },
} as const;
