import type { NetworkMode } from '@tendon/protocol';
import { useState } from 'react';
import { namesIn, SettingField, SettingForm, SettingSection } from './setting-form.tsx';
import { type PlainText, t, textKey } from '../../lib/language/text.ts';

const MODES: readonly (readonly [NetworkMode | '', PlainText])[] = [
  ['', textKey('As the server was started')],
  ['full', textKey('The public internet')],
  ['allowlist', textKey('Package registries, git hosts and the hosts below; others ask you')],
  ['none', textKey('Nothing')],
];

/** Where sandboxes may connect to: no wider than the server's operator allows. */
export function NetworkSetting() {
  return (
    <SettingSection
      title={t('Reach of the sandboxes')}
      about={t(
        'It counts from the next connection on, in conversations that chose nothing of their own, and is no wider than the server allows.',
      )}
    >
      {({ sandbox_network: mode = null, sandbox_network_allow: hosts = [] }) => (
        <NetworkForm key={`${mode} ${hosts.join()}`} storedMode={mode ?? ''} storedHosts={hosts.join(', ')} />
      )}
    </SettingSection>
  );
}

function NetworkForm({ storedMode, storedHosts }: { readonly storedMode: NetworkMode | ''; readonly storedHosts: string }) {
  const [mode, setMode] = useState(storedMode);
  const [hosts, setHosts] = useState(storedHosts);
  return (
    <SettingForm changes={{ sandbox_network: mode || null, sandbox_network_allow: namesIn(hosts) }}>
      <label className="flex flex-col gap-1">
        {t('Commands may connect to')}
        <select className="field w-full flex-none" value={mode} onChange={(event) => setMode(event.target.value as NetworkMode | '')}>
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
        onChange={(event) => setHosts(event.target.value)}
      />
    </SettingForm>
  );
}
