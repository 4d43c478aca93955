import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { CONFIG_FILE_KEYS, CONFIG_FILE_SECTIONS } from './config-file-keys.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export type WithConfigFile =
  | {
      readonly ok: true;
      readonly env: Environment;
      readonly notices: readonly string[];
      /** Where in the file a name of the environment has its value from. */
      readonly places: Readonly<Record<string, string>>;
    }
  | { readonly ok: false; readonly problems: readonly string[] };

const MAX_BYTES = 1024 * 1024;
/** Those of which there may be several. */
const LISTS: ReadonlySet<string> = new Set(['SANDBOX_VOLUMES']);

/**
 * The environment with what a `config.toml` says beneath it. The file is the one that TENDON_CONFIG names, else the one in TENDON_HOME;
 * never one of the current folder or of a workspace, which may be anybody's.
 */
export async function withConfigFile(env: Environment): Promise<WithConfigFile> {
  const named = env.TENDON_CONFIG?.trim();
  const path = absolute(named || join(env.TENDON_HOME?.trim() || '~/.tendon', 'config.toml'));
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => cause);
  if (found instanceof Error) {
    const isAbsent = found.code === 'ENOENT' || found.code === 'ENOTDIR';
    if (isAbsent && !named) return { ok: true, env, notices: [], places: {} };
    return wrong(path, isAbsent ? 'it is not there' : `it cannot be read (${found.code})`);
  }
  if (!found.isFile()) return wrong(path, 'it is not a file');
  if (found.size > MAX_BYTES) return wrong(path, 'it is larger than 1 MiB');
  return merged(path, env);
}

async function merged(path: string, env: Environment): Promise<WithConfigFile> {
  const document = await parsed(path);
  if (typeof document === 'string') return wrong(path, document);
  const values: Record<string, string> = {};
  const places: Record<string, string> = {};
  const ignored: string[] = [];
  const problems: string[] = [];
  for (const [section, table] of Object.entries(document)) {
    if (Object.hasOwn(CONFIG_FILE_SECTIONS, section) && isTable(table)) {
      values[CONFIG_FILE_SECTIONS[section]!] = JSON.stringify(table);
      places[CONFIG_FILE_SECTIONS[section]!] = `${path}: [${section}]`;
      continue;
    }
    const keys = Object.hasOwn(CONFIG_FILE_KEYS, section) ? CONFIG_FILE_KEYS[section] : undefined;
    if (!keys || !isTable(table)) {
      ignored.push(`[${section}]`);
      continue;
    }
    for (const [key, value] of Object.entries(table)) {
      if (!Object.hasOwn(keys, key)) {
        ignored.push(`[${section}] ${key}`);
        continue;
      }
      const name = keys[key]!;
      const text = textOf(value, LISTS.has(name));
      if (text === undefined) problems.push(`${path}: [${section}] ${key}: text, a number, true or false is expected`);
      else values[name] = text;
      places[name] = `${path}: [${section}] ${key}`;
    }
  }
  if (problems.length > 0) return { ok: false, problems };
  const given = Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== '');
  const notices = ignored.length > 0 ? [`${path}: not used here, ignored: ${ignored.map(shown).join(', ')}.`] : [];
  for (const [name] of given) delete places[name];
  return { ok: true, env: { ...values, ...Object.fromEntries(given) }, notices, places };
}

/** The tables of the file, or what is wrong with it: never the line itself, which may be a key. */
async function parsed(path: string): Promise<Readonly<Record<string, unknown>> | string> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => cause);
  if (text instanceof Error) return `it cannot be read (${text.code})`;
  const { parse, TomlError } = await import('smol-toml');
  try {
    return parse(text);
  } catch (cause) {
    return cause instanceof TomlError ? `it is not TOML: see line ${cause.line}, column ${cause.column}` : 'it is not TOML';
  }
}

/** As the environment would say it; lists with commas. */
function textOf(value: unknown, mayBeList: boolean): string | undefined {
  if (Array.isArray(value)) return mayBeList && value.every((item) => typeof item === 'string') ? value.join(',') : undefined;
  return ['string', 'number', 'boolean', 'bigint'].includes(typeof value) ? String(value) : undefined;
}

function shown(name: string): string {
  return JSON.stringify(name).slice(1, -1);
}

function absolute(path: string): string {
  return resolve(path.replace(/^~(?=\/|$)/, homedir()));
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function wrong(path: string, problem: string): WithConfigFile {
  return { ok: false, problems: [`${path}: ${problem}.`] };
}
