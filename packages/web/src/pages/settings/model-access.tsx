import { t } from '../../lib/language/text.ts';
import { SettingField } from './setting-form.tsx';

/** Key and address of a model; empty fields mean the stored key and the provider's own address. */
export interface ModelAccess {
  readonly key: string;
  readonly address: string;
}

/** Whether the fields hold a possible address and key. */
export function isWholeAccess({ key, address }: ModelAccess): boolean {
  return (address === '' || URL.canParse(address)) && (key === '' || key.trim().length >= 8);
}

interface ModelAccessFieldsProps {
  readonly shown: ModelAccess;
  readonly labels: Readonly<Record<keyof ModelAccess, string>>;
  /** Whether a key is stored; the empty key field then shows that. */
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
