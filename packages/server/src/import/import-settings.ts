import { join } from 'node:path';
import type { RecordStore, Secret } from '@tendon/core';
import { CreateSecret, SettingsUpdate } from '@tendon/protocol';
import { ProviderTokens } from '../git-providers/provider-tokens.ts';
import { providerTokensOf } from '../settings/provider-tokens-of.ts';
import { SecretStore } from '../secrets/secret-store.ts';
import { SettingsStore } from '../settings/settings.ts';
import { readObject } from './find-sources.ts';

export interface SettingsParts {
  readonly records: RecordStore;
  readonly jwtSecret: Secret;
  /** Whether tokens may be shown to their providers. */
  readonly asksProviders: boolean;
  readonly onProblem: (sentence: string) => void;
}

type Stored = Readonly<Record<string, unknown>>;

/**
 * Settings and secrets of a store's root. What is stored here already wins: settings are taken only when there are none, a secret or a
 * provider's token only when its name is free. Keys are sealed as always. Resolves with what was taken, in words.
 */
export async function importSettings(root: string, parts: SettingsParts): Promise<readonly string[]> {
  const read = async (name: string): Promise<Stored> => {
    const file = join(root, name);
    return (await readObject(file).catch((cause: unknown) => void parts.onProblem(`${file}: ${(cause as Error).message}`))) ?? {};
  };
  const [settings, secrets] = [await read('settings.json'), await read('secrets.json')];
  return [
    ...(await takeSettings(settings, inFile(join(root, 'settings.json'), parts))),
    ...(await takeSecrets(secrets, inFile(join(root, 'secrets.json'), parts))),
    ...(await takeTokens({ ...tokensIn(settings.secrets_store), ...tokensIn(secrets) }, inFile(join(root, 'secrets.json'), parts))),
  ];
}

function inFile(file: string, parts: SettingsParts): SettingsParts {
  return { ...parts, onProblem: (sentence) => parts.onProblem(`${file}: ${sentence}`) };
}

async function takeSettings(given: Stored, { records, jwtSecret, onProblem }: SettingsParts): Promise<readonly string[]> {
  const settings = await SettingsStore.open(records, jwtSecret);
  if (Object.keys(given).length === 0 || settings.current) return [];
  const problem = await settings.update(fitting(given, (field) => onProblem(`"${field}" was left out`)));
  if (!problem) return ['the settings'];
  onProblem(problem.message);
  return [];
}

async function takeSecrets(
  { custom_secrets: custom }: Stored,
  { records, jwtSecret, onProblem }: SettingsParts,
): Promise<readonly string[]> {
  if (typeof custom !== 'object' || custom === null) return [];
  const secrets = await SecretStore.open(records, jwtSecret);
  let count = 0;
  for (const [name, value] of Object.entries(custom)) {
    if (secrets.list.custom_secrets.some((secret) => secret.name === name)) continue;
    const { secret = value, description } = (value ?? {}) as { secret?: unknown; description?: unknown };
    const wish = CreateSecret.safeParse({ name, value: secret, ...(typeof description === 'string' && { description }) });
    const problem = wish.success ? (await secrets.create(wish.data))?.message : 'its name or value cannot be used';
    if (problem) onProblem(`${name}: ${problem}`);
    else count++;
  }
  return count === 0 ? [] : [count === 1 ? '1 secret' : `${count} secrets`];
}

/** Each is shown to its provider before it is stored, as always; a trial asks nobody. */
async function takeTokens(given: Stored, { records, jwtSecret, asksProviders, onProblem }: SettingsParts): Promise<readonly string[]> {
  const tokens = await ProviderTokens.open(records, jwtSecret);
  const taken: string[] = [];
  for (const [provider, token] of Object.entries(providerTokensOf({ provider_tokens: given }) ?? {})) {
    if (provider in tokens.set || !token.token?.trim()) continue;
    const problem = asksProviders ? await tokens.add({ [provider]: token }) : undefined;
    if (problem) onProblem(problem.message);
    else taken.push(`the token of ${provider}${asksProviders ? '' : ', if it is valid'}`);
  }
  return taken;
}

function tokensIn(store: unknown): Stored {
  const tokens = typeof store === 'object' && store !== null ? (store as Stored).provider_tokens : undefined;
  return typeof tokens === 'object' && tokens !== null ? (tokens as Stored) : {};
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
