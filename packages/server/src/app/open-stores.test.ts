import { createMemoryStorage } from '@tendon/core/storage';
import { McpConfig } from '@tendon/protocol';
import { createLiveMask, Secret } from '@tendon/protocol/masking';
import { expect, it, onTestFinished } from 'vitest';
import { ProviderTokens } from '../git-providers/provider-tokens.ts';
import { readConfig } from '../platform/config/config.ts';
import { systemClock } from '../platform/system-clock.ts';
import { temporaryFolder } from '../server.test-support.ts';
import { openStores } from './open-stores.ts';

const HIDDEN = '<secret_hidden>';

it('SV745: the mask hides a secret of any store from the moment it is stored, and lets its text through when it is gone', async () => {
  const read = readConfig({ TENDON_HOME: temporaryFolder() });
  if (!read.ok) throw new Error(read.problems.join());
  const { storage, mask, ...stores } = await openStores(read.config, { clock: systemClock, onFinding: () => undefined });
  onTestFinished(() => storage.close());
  const shown = (value: string): string => mask.text(value);

  expect(shown('key-of-the-settings')).toBe('key-of-the-settings');
  await stores.settings.update({ llm_api_key: 'key-of-the-settings' });
  expect(shown('key-of-the-settings')).toBe(HIDDEN);
  await stores.settings.update({ llm_api_key: '' });
  expect(shown('key-of-the-settings')).toBe('key-of-the-settings');

  await stores.secretStore.create({ name: 'A', value: 'named-secret', description: null });
  expect(shown('named-secret')).toBe(HIDDEN);
  await stores.secretStore.delete('A');
  expect(shown('named-secret')).toBe('named-secret');

  const given = McpConfig.parse({ shttp_servers: [{ url: 'http://127.0.0.1:1/mcp', api_key: 'key-of-a-server' }] });
  const sealed = stores.mcpServers.sealed(given, McpConfig.parse({}), { isAdmins: true });
  expect(shown('key-of-a-server')).toBe('key-of-a-server');
  stores.mcpServers.open({ id: 'a', tool_servers: sealed });
  expect(shown('key-of-a-server')).toBe(HIDDEN);
  stores.mcpServers.forget('a');
  expect(shown('key-of-a-server')).toBe('key-of-a-server');

  stores.modelKeys.hold({ id: 'a', model_access: stores.modelKeys.sealed({ apiKey: new Secret('key-of-initialize') }) });
  expect(shown('key-of-initialize')).toBe(HIDDEN);
  stores.modelKeys.forget('a');
  expect(shown('key-of-initialize')).toBe('key-of-initialize');
});

it('SV745: so it does with the token of a git provider', async () => {
  const mask = createLiveMask();
  const check = async () => ({ state: 'taken' }) as const;
  const { records } = createMemoryStorage({ clock: systemClock });
  const tokens = await ProviderTokens.open(records, new Secret('a-jwt-secret'), { check, onChange: mask.renew });
  mask.add(() => tokens.secrets);
  await tokens.add({ github: { token: 'token-of-github', host: null } });
  expect(mask.text('token-of-github')).toBe(HIDDEN);
  await tokens.clear();
  expect(mask.text('token-of-github')).toBe('token-of-github');
});
