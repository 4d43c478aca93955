import { join } from 'node:path';
import type { RecordStore, Secret } from '@tendon/core';
import { CreateSecret, SettingsUpdate } from '@tendon/protocol';
import { SecretStore } from '../secrets/secret-store.ts';
import { SettingsStore } from '../settings/settings.ts';
import { readObject } from './find-sources.ts';

/**
 * Settings and secrets of a store's root. What is stored here already wins: settings are taken only when there are none, a secret only
 * when its name is free. Keys are sealed as always. Resolves with what was taken, in words; tokens of git providers are not, for each
 * must be checked with its provider first.
 */
export async function importSettings(
  root: string,
  records: RecordStore,
  jwtSecret: Secret,
  onProblem: (sentence: string) => void,
): Promise<readonly string[]> {
  const taken: string[] = [];
  const read = async (name: string) => {
    const file = join(root, name);
    return readObject(file).catch((cause: unknown) => void onProblem(`${file}: ${(cause as Error).message}`));
  };
  const given = await read('settings.json');
  const settings = await SettingsStore.open(records, jwtSecret);
  if (given && !settings.current) {
    const problem = await settings.update(fitting(given, (field) => onProblem(`${join(root, 'settings.json')}: "${field}" was left out`)));
    if (problem) onProblem(`${join(root, 'settings.json')}: ${problem.message}`);
    else taken.push('the settings');
  }
  const store = await read('secrets.json');
  const custom = store?.custom_secrets;
  if (typeof custom === 'object' && custom !== null) {
    const secrets = await SecretStore.open(records, jwtSecret);
    let count = 0;
    for (const [name, value] of Object.entries(custom)) {
      if (secrets.list.custom_secrets.some((secret) => secret.name === name)) continue;
      const { secret = value, description } = (value ?? {}) as { secret?: unknown; description?: unknown };
      const wish = CreateSecret.safeParse({ name, value: secret, ...(typeof description === 'string' && { description }) });
      const problem = wish.success ? (await secrets.create(wish.data))?.message : 'its name or value can not be used';
      if (problem) onProblem(`${join(root, 'secrets.json')}: ${name}: ${problem}`);
      else count++;
    }
    if (count > 0) taken.push(count === 1 ? '1 secret' : `${count} secrets`);
  }
  if (typeof store?.provider_tokens === 'object' && store.provider_tokens && Object.keys(store.provider_tokens).length > 0) {
    onProblem(`${join(root, 'secrets.json')}: tokens of git providers are not taken over; name them again in the settings.`);
  }
  return taken;
}

/** Field by field: one that does not fit must not cost the others. */
function fitting(given: Readonly<Record<string, unknown>>, onLeftOut: (field: string) => void): SettingsUpdate {
  const update: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(SettingsUpdate.shape, name) || name === 'provider_tokens' || name === 'github_token') continue;
    const one = SettingsUpdate.safeParse({ [name]: value });
    if (one.success) Object.assign(update, one.data);
    else onLeftOut(name);
  }
  return update;
}
