import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { readConfig, type Config } from './config.ts';
import { withSecretFiles } from './secret-files.ts';

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
 * @internal
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

/**
 * The keys of OpenHands' `config.toml` that mean something here, by section, with the name that the environment has for each; and
 * those of our own that are about output.
 */
const CONFIG_FILE_KEYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  core: {
    workspace_base: 'WORKSPACE_BASE',
    runtime: 'RUNTIME',
    jwt_secret: 'JWT_SECRET',
    max_iterations: 'MAX_ITERATIONS',
    max_budget_per_task: 'MAX_BUDGET_PER_TASK',
    max_concurrent_conversations: 'MAX_CONCURRENT_CONVERSATIONS',
    enable_browser: 'ENABLE_BROWSER',
    search_api_key: 'SEARCH_API_KEY',
  },
  llm: {
    model: 'LLM_MODEL',
    api_key: 'LLM_API_KEY',
    base_url: 'LLM_BASE_URL',
    reasoning_effort: 'LLM_REASONING_EFFORT',
    native_tool_calling: 'LLM_NATIVE_TOOL_CALLING',
    tool_calling: 'LLM_TOOL_CALLING',
    fallback_model: 'LLM_FALLBACK_MODEL',
    fallback_api_key: 'LLM_FALLBACK_API_KEY',
    fallback_base_url: 'LLM_FALLBACK_BASE_URL',
    small_model: 'LLM_SMALL_MODEL',
    small_api_key: 'LLM_SMALL_API_KEY',
    small_base_url: 'LLM_SMALL_BASE_URL',
    aws_access_key_id: 'AWS_ACCESS_KEY_ID',
    aws_secret_access_key: 'AWS_SECRET_ACCESS_KEY',
    aws_region_name: 'AWS_REGION',
  },
  agent: { enable_browsing: 'AGENT_ENABLE_BROWSING' },
  sandbox: {
    base_container_image: 'SANDBOX_BASE_CONTAINER_IMAGE',
    runtime_container_image: 'SANDBOX_RUNTIME_CONTAINER_IMAGE',
    volumes: 'SANDBOX_VOLUMES',
    user_id: 'SANDBOX_USER_ID',
    close_delay: 'SANDBOX_CLOSE_DELAY',
    output_chars: 'SANDBOX_OUTPUT_CHARS',
    output_file_size: 'SANDBOX_OUTPUT_FILE_SIZE',
    output_size: 'SANDBOX_OUTPUT_SIZE',
    no_output_seconds: 'SANDBOX_NO_OUTPUT_SECONDS',
    remote_runtime_api_url: 'SANDBOX_REMOTE_RUNTIME_API_URL',
    api_key: 'SANDBOX_API_KEY',
  },
  security: { confirmation_mode: 'SECURITY_CONFIRMATION_MODE' },
};

/** Sections that are one value as a whole, which the environment has as JSON. */
const CONFIG_FILE_SECTIONS: Readonly<Record<string, string>> = { mcp: 'MCP_CONFIG' };

export type FiledConfig =
  | { readonly ok: true; readonly config: Config; readonly env: NodeJS.ProcessEnv; readonly notices: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** The configuration by `env` and the `config.toml` beneath it; a wrong value is named where it stands. Never throws. */
export async function readFiledConfig(env: NodeJS.ProcessEnv): Promise<FiledConfig> {
  const given = await withSecretFiles(env);
  if (!given.ok) return given;
  const filed = await withConfigFile(given.env);
  if (!filed.ok) return filed;
  const read = readConfig(filed.env);
  if (read.ok) return { ok: true, config: read.config, env: { ...filed.env }, notices: filed.notices };
  const placed = (problem: string): string => {
    const [name = ''] = problem.split(/[.:]/, 1);
    return Object.hasOwn(filed.places, name) ? `${filed.places[name]}${problem.slice(name.length)}` : problem;
  };
  return { ok: false, problems: read.problems.map(placed) };
}
