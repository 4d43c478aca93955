import type { NetworkMode } from '@tendon/protocol';
import { useFormDraft } from '../../lib/use-form-draft.ts';
import { namesIn, SettingField, SettingForm, SettingSection } from './setting-form.tsx';
import { type PlainText, t, textKey } from '../../lib/language/text.ts';

const MODES: readonly (readonly [NetworkMode | '', PlainText])[] = [
  ['', textKey('As the server was started')],
  ['full', textKey('The public internet')],
  ['allowlist', textKey('Package registries, git hosts and the hosts below; others ask you')],
  ['none', textKey('Nothing')],
];

/** The hosts that sandboxes may connect to, within the limit of the server's operator. */
export function NetworkSetting() {
  return (
    <SettingSection
      title={t('Reach of the sandboxes')}
      about={t(
        'It counts from the next connection on, in conversations that chose nothing of their own, and is no wider than the server allows.',
      )}
    >
      {({ sandbox_network: mode = null, sandbox_network_allow: hosts = [] }) => <NetworkForm mode={mode ?? ''} hosts={hosts.join(', ')} />}
    </SettingSection>
  );
}

function NetworkForm(stored: { readonly mode: NetworkMode | ''; readonly hosts: string }) {
  const draft = useFormDraft(stored);
  const { mode, hosts } = draft.shown;
  return (
    <SettingForm draft={draft} changes={{ sandbox_network: mode || null, sandbox_network_allow: namesIn(hosts) }}>
      <label className="flex flex-col gap-1">
        {t('Commands may connect to')}
        <select
          className="field w-full flex-none"
          value={mode}
          onChange={(event) => draft.write({ mode: event.target.value as NetworkMode | '' })}
        >
          {MODES.map(([value, words]) => (
            <option key={value} value={value}>
              {t(words)}
            </option>
          ))}
        </select>
      </label>
      <SettingField
        label={t('Allowed hosts')}
        hint={t('Separated by commas; *.example.com is every name below it. They count where the list decides.')}
        value={hosts}
        onChange={(event) => draft.write({ hosts: event.target.value })}
      />
    </SettingForm>
  );
}
