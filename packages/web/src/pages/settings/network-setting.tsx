import type { NetworkMode } from '@tendon/protocol';
import { useState } from 'react';
import { namesIn, SettingField, SettingForm, SettingSection } from './setting-form.tsx';

const MODES: readonly (readonly [NetworkMode | '', string])[] = [
  ['', 'As the server was started'],
  ['full', 'The public internet'],
  ['allowlist', 'Package registries, git hosts and the hosts below; others ask you'],
  ['none', 'Nothing'],
];

/** Where sandboxes may connect to: no wider than the server's operator allows. */
export function NetworkSetting() {
  return (
    <SettingSection
      title="Reach of the sandboxes"
      about="It counts from the next connection on, in conversations that chose nothing of their own, and is no wider than the server allows."
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
        Commands may connect to
        <select className="field w-full flex-none" value={mode} onChange={(event) => setMode(event.target.value as NetworkMode | '')}>
          {MODES.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <SettingField
        label="Allowed hosts"
        hint="Separated by commas; *.example.com is every name below it. They count where the list decides."
        value={hosts}
        onChange={(event) => setHosts(event.target.value)}
      />
    </SettingForm>
  );
}
