import { t } from '../../lib/language/text.ts';
import { SettingField } from './setting-form.tsx';

/** How a model is asked; empty: no other key than what is stored, and the provider's own address. */
export interface ModelAccess {
  readonly key: string;
  readonly address: string;
}

/** Whether what is written could be one. */
export function isWholeAccess({ key, address }: ModelAccess): boolean {
  return (address === '' || URL.canParse(address)) && (key === '' || key.trim().length >= 8);
}

interface ModelAccessFieldsProps {
  readonly shown: ModelAccess;
  readonly labels: Readonly<Record<keyof ModelAccess, string>>;
  /** In the field of the key: what is stored. */
  readonly hasKey: boolean;
  readonly noKey: string;
  readonly onWrite: (changed: Partial<ModelAccess>) => void;
}

export function ModelAccessFields({ shown, labels, hasKey, noKey, onWrite }: ModelAccessFieldsProps) {
  return (
    <>
      <SettingField
        label={labels.key}
        type="password"
        autoComplete="off"
        placeholder={hasKey ? t('A key is set; another one replaces it') : noKey}
        value={shown.key}
        onChange={(event) => onWrite({ key: event.target.value })}
      />
      <SettingField
        label={labels.address}
        placeholder="http://127.0.0.1:11434/v1"
        value={shown.address}
        onChange={(event) => onWrite({ address: event.target.value })}
      />
    </>
  );
}
