import { useQuery } from '@tanstack/react-query';
import type { ModelEffort } from '@tendon/protocol';
import { type ReactNode, useId } from 'react';
import { t, textKey } from '../../lib/language/text.ts';
import { modelsQuery } from '../../lib/server.ts';
import { SettingField } from './setting-form.tsx';

/** The settings of a secondary model; `null` inherits from the level above. */
export interface OtherModels {
  readonly effort: ModelEffort | null;
  readonly fallback: string | null;
  readonly small: string | null;
}

const EFFORTS = {
  none: textKey('none'),
  minimal: textKey('minimal'),
  low: textKey('low'),
  medium: textKey('medium'),
  high: textKey('high'),
  xhigh: textKey('very high'),
  max: textKey('the most'),
} as const satisfies Record<ModelEffort, string>;

export function effortWords(effort: ModelEffort): string {
  return t(EFFORTS[effort]);
}

interface OtherModelFieldsProps {
  readonly chosen: OtherModels;
  readonly onChoose: (changed: Partial<OtherModels>) => void;
  /** The fields for key and address; missing if the model cannot have its own. */
  readonly access?: (use: 'fallback' | 'small') => ReactNode;
}

/** Used for the settings of all conversations and of a single one. */
export function OtherModelFields({ chosen, onChoose, access }: OtherModelFieldsProps) {
  const offered = useQuery(modelsQuery);
  const list = useId();
  const name = (text: string) => (text.trim() === '' ? null : text);
  return (
    <>
      <label className="flex flex-col gap-1">
        {t('How much the model thinks')}
        <select
          className="field w-full flex-none"
          value={chosen.effort ?? ''}
          onChange={(event) => onChoose({ effort: (event.target.value || null) as ModelEffort | null })}
        >
          <option value="">{t('Nothing chosen here')}</option>
          {Object.keys(EFFORTS).map((effort) => (
            <option key={effort} value={effort}>
              {effortWords(effort as ModelEffort)}
            </option>
          ))}
        </select>
      </label>
      <SettingField
        label={t('Stands in when the model does not answer')}
        list={list}
        placeholder={t('Nothing chosen here')}
        {...(!access && {
          hint: t('It has the key that the settings have for it, else that of the model, if it is of the same provider.'),
        })}
        value={chosen.fallback ?? ''}
        onChange={(event) => onChoose({ fallback: name(event.target.value) })}
      />
      {chosen.fallback !== null && access?.('fallback')}
      <SettingField
        label={t('Small model, for titles, summaries and looking around')}
        list={list}
        placeholder={t('Nothing chosen here')}
        value={chosen.small ?? ''}
        onChange={(event) => onChoose({ small: name(event.target.value) })}
      />
      {chosen.small !== null && access?.('small')}
      <datalist id={list}>
        {offered.data?.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </>
  );
}
