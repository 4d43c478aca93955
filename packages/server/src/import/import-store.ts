import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type Clock, type RecordStore } from '@tendon/core';
import { Secret } from '@tendon/protocol/masking';
import { CreateSecret, SettingsUpdate } from '@tendon/protocol';
import type { Config } from '../platform/config/config.ts';
import { storedSecret } from '../platform/auth/stored-secret.ts';
import { workspaceFolder } from '../sandboxes/workspace-folder.ts';
import { workspaceRoots } from '../sandboxes/workspace-roots.ts';
import { openStorage } from '../platform/open-storage.ts';
import { useUpstreamProxy } from '../platform/use-upstream-proxy.ts';
import { findSources, type Sources, readObject } from './find-sources.ts';
import { importConversation, readConversation } from './import-conversation.ts';
import { ProviderTokens } from '../git-providers/provider-tokens.ts';
import { providerTokensOf, SettingsStore } from '../settings/settings.ts';
import { SecretStore } from '../secrets/secret-store.ts';

export interface ImportOptions {
  readonly path: string;
  readonly config: Config;
  readonly clock: Clock;
  /** Read everything, write nothing. */
  readonly dryRun: boolean;
  readonly onProblem: (sentence: string) => void;
  readonly onProgress: (id: string, done: number, of: number) => void;
}

export interface ImportSummary {
  readonly conversations: number;
  readonly events: number;
  /** Those that were here before. */
  readonly known: number;
  /** Those that could not be taken at all. */
  readonly failed: number;
  /** What else was taken, in words. */
  readonly taken: readonly string[];
}

/**
 * Moves an OpenHands file store or a trajectory into this home. The originals are only read; a second import adds nothing. Rejects with
 * a user-facing error when nothing is there or another process has the home.
 */
export async function importStore(options: ImportOptions): Promise<ImportSummary> {
  const sources = await findSources(options.path);
  for (const problem of sources.problems) options.onProblem(problem);
  return options.dryRun ? tryOut(sources, options) : moveOver(sources, options);
}

async function moveOver(sources: Sources, { config, clock, onProblem, onProgress }: ImportOptions): Promise<ImportSummary> {
  const storage = await openStorage(config, { clock });
  const leaveProxy = config.upstreamProxy ? useUpstreamProxy(config.upstreamProxy) : () => undefined;
  try {
    const jwtSecret = config.jwtSecret ?? (await storedSecret(join(config.home, 'jwt-secret')));
    const roots = await workspaceRoots(config);
    const workspaceOf = async (id: string): Promise<string> => {
      const folder = await workspaceFolder(roots, id, undefined);
      if (!folder.ok) throw new Error(folder.error.message);
      return folder.path;
    };
    const parts = { storage, now: () => clock.now(), workspaceOf, onProblem, onProgress };
    const counts = await counted(sources, onProblem, (source) => importConversation(source, parts));
    const taken: string[] = [];
    for (const root of sources.roots)
      taken.push(...(await importSettings(root, { records: storage.records, jwtSecret, asksProviders: true, onProblem })));
    return { ...counts, taken };
  } finally {
    leaveProxy();
    await storage.close();
  }
}

/** Everything is read as it would be; what is in this home already is not looked at. */
async function tryOut(sources: Sources, { clock, onProblem }: ImportOptions): Promise<ImportSummary> {
  const { createMemoryStorage } = await import('@tendon/core/storage');
  const counts = await counted(sources, onProblem, async (source) => {
    const { length, event } = (await readConversation(source, onProblem)).recorded;
    for (let id = 0; id < length; id++) await event(id, onProblem);
    return length;
  });
  const taken: string[] = [];
  const { records } = createMemoryStorage({ clock });
  const parts = { records, jwtSecret: new Secret(randomUUID()), asksProviders: false, onProblem };
  for (const root of sources.roots) taken.push(...(await importSettings(root, parts)));
  return { ...counts, taken };
}

async function counted(
  { conversations, problems }: Sources,
  onProblem: (sentence: string) => void,
  take: (source: Sources['conversations'][number]) => Promise<number | undefined>,
): Promise<Omit<ImportSummary, 'taken'>> {
  const counts = { conversations: 0, events: 0, known: 0, failed: problems.length };
  for (const source of conversations) {
    try {
      const events = await take(source);
      if (events === undefined) counts.known++;
      else {
        counts.conversations++;
        counts.events += events;
      }
    } catch (cause) {
      if ((cause as Error).name === 'StorageError') throw cause;
      counts.failed++;
      onProblem(`${source.path}: ${(cause as Error).message}`);
    }
  }
  return counts;
}

interface SettingsParts {
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
async function importSettings(root: string, parts: SettingsParts): Promise<readonly string[]> {
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
    const parsed = CreateSecret.safeParse({ name, value: secret, ...(typeof description === 'string' && { description }) });
    const problem = parsed.success ? (await secrets.create(parsed.data))?.message : 'its name or value cannot be used';
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
