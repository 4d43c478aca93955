/** A plugin in the format of Agent Plugins 1.0: a folder with `plugin.json`, `skills/`, `mcp.json` and, for Tendon alone, hooks and tools. */
import { mkdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { McpConfig } from '@tendon/protocol';
import { isWithin } from '@tendon/runtime';
import { z } from 'zod';
import { readPlainJson } from '../platform/read-plain-file.ts';
import { parseHookFile, type ConfiguredHook } from './hook-file.ts';
import type { ToolFolder } from './installed-tools.ts';

export interface Plugin {
  /** The name of its folder. */
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** Its folder, when it has skills. */
  readonly skillsIn: string | undefined;
  readonly mcpServers: McpConfig;
  readonly hooks: readonly ConfiguredHook[];
  /** False where it may have more hooks than were read. */
  readonly areHooksRead: boolean;
  /** When it has tools. */
  readonly toolFolder: ToolFolder | undefined;
  /** One sentence for each part that does not count. */
  readonly problems: readonly string[];
}

const MAX_BYTES = 1024 * 1024;
const SCHEMAS = 'https://agent-plugins.org/schemas/1.0.0';
/** The format leaves folders that are named after a domain to its owner. */
const OWN_FOLDER = 'dev.tendon';

const Manifest = z.object({
  $schema: z.literal(`${SCHEMAS}/plugin.schema.json`, { error: 'only Agent Plugins 1.0.0 is known' }),
  name: z
    .string()
    .regex(/^(?=.{1,64}$)(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/, 'lower-case letters, digits, - and . are expected'),
  version: z.string().default(''),
  description: z.string().default(''),
  author: z.strictObject({ name: z.string().optional(), email: z.string().optional(), url: z.string().optional() }).optional(),
  homepage: z.string().optional(),
  repository: z.string().optional(),
  license: z.string().optional(),
  keywords: z.array(z.string()).optional(),
  extensions: z.unknown().optional(),
});

const McpFile = z.strictObject({
  $schema: z.literal(`${SCHEMAS}/mcp.schema.json`, { error: 'only Agent Plugins 1.0.0 is known' }),
  mcpServers: z.record(z.string(), z.unknown()),
});

const RemoteServer = z.strictObject({
  type: z.enum(['streamable-http', 'sse']),
  url: z.string().refine(isAllowedUrl, 'https://, or http:// on this machine, is expected, without a login and a fragment'),
  headers: z.record(z.string(), z.string()).optional(),
});

/** Returns nothing where there is no folder. Never rejects. */
export async function readPlugin(home: string, id: string): Promise<Plugin | undefined> {
  const root = await realpath(join(home, 'plugins', id)).catch(() => undefined);
  if (root === undefined || !(await stat(root).catch(() => undefined))?.isDirectory()) return undefined;
  const problems: string[] = [];
  const report = (problem: string): undefined => void problems.push(`The plugin ${id}: ${problem}`);
  const leftOut = (part: string) => (error: Error) => report(`${part} does not count: ${error.message}`);
  const nothing = { skillsIn: undefined, mcpServers: noServers(), hooks: [], toolFolder: undefined };
  const manifest = await readManifest(root, report).catch(leftOut('all of it'));
  if (!manifest) return { id, name: id, version: '', description: '', ...nothing, areHooksRead: false, problems };
  const { name, version, description } = manifest;
  const skills = await inside(root, 'skills').catch(leftOut('skills'));
  const mcpServers = (await readServers(root, report).catch(leftOut('mcp.json'))) ?? nothing.mcpServers;
  const hooks = await readHooks(root, home, id).catch(leftOut(`${OWN_FOLDER}/hooks.json`));
  const tools = await inside(root, join(OWN_FOLDER, 'tools')).catch(leftOut(`${OWN_FOLDER}/tools`));
  const toolFolder = tools && { path: tools, within: root, env: await placesOf(root, home, id) };
  const brings = { skillsIn: skills && root, mcpServers, hooks: hooks ?? [], toolFolder: toolFolder || undefined };
  return { id, name, version, description, ...brings, areHooksRead: hooks !== undefined, problems };
}

async function readManifest(root: string, report: (problem: string) => void): Promise<z.output<typeof Manifest>> {
  const path = await inside(root, 'plugin.json');
  if (path === undefined) throw new Error('it has no plugin.json');
  const json = await readPlainJson(path, MAX_BYTES);
  const manifest = checked(Manifest, json);
  const unknown = Object.keys(json as object).filter((key) => !Object.hasOwn(Manifest.shape, key));
  const { extensions = {} } = manifest;
  if (typeof extensions !== 'object' || extensions === null || Array.isArray(extensions)) unknown.push('extensions');
  if (unknown.length > 0) report(`plugin.json has fields that are ignored: ${unknown.join(', ').slice(0, 200)}`);
  return manifest;
}

async function readServers(root: string, report: (problem: string) => void): Promise<McpConfig> {
  const path = await inside(root, 'mcp.json');
  if (path === undefined) return noServers();
  const { mcpServers } = checked(McpFile, await readPlainJson(path, MAX_BYTES));
  const shttp: { url: string }[] = [];
  const sse: { url: string }[] = [];
  for (const [name, given] of Object.entries(mcpServers)) {
    const skip = (why: string): void => report(`the MCP server ${name.slice(0, 100)} does not count: ${why}`);
    // It would need the plugin's files in the sandbox, where programs of MCP servers run.
    if ((given as { readonly type?: unknown } | null)?.type === 'stdio') {
      skip('it is a program (stdio), and programs of plugins are not started');
      continue;
    }
    const { data, error } = RemoteServer.safeParse(given);
    if (!data) skip(firstIssueOf(error));
    else if (Object.keys(data.headers ?? {}).length > 0) skip('headers of its own cannot be sent');
    else (data.type === 'sse' ? sse : shttp).push({ url: data.url });
  }
  return McpConfig.parse({ shttp_servers: shttp, sse_servers: sse });
}

function noServers(): McpConfig {
  return { sse_servers: [], stdio_servers: [], shttp_servers: [] };
}

async function readHooks(root: string, home: string, id: string): Promise<readonly ConfiguredHook[]> {
  const path = await inside(root, join(OWN_FOLDER, 'hooks.json'));
  if (path === undefined) return [];
  const hooks = parseHookFile(await readPlainJson(path, MAX_BYTES), { folder: root, env: await placesOf(root, home, id) });
  return hooks.map((hook) => ({ ...hook, name: `${id}: ${hook.name}` }));
}

/** Variables for its programs: where they are, and where they may store something, which is made. */
async function placesOf(root: string, home: string, id: string): Promise<Readonly<Record<string, string>>> {
  const data = join(home, 'plugin-data', id);
  await mkdir(data, { recursive: true, mode: 0o700 });
  return { PLUGIN_ROOT: root, PLUGIN_DATA: data };
}

/** Where it really is; nothing when it is not there. Throws when it leads out of the plugin. */
async function inside(root: string, path: string): Promise<string | undefined> {
  const found = await realpath(join(root, path)).catch(() => undefined);
  if (found !== undefined && !isWithin(found, root)) throw new Error('it leads out of the plugin');
  return found;
}

function isAllowedUrl(text: string): boolean {
  const { protocol, hostname, username, password, hash } = URL.parse(text) ?? {};
  if (protocol === undefined || username !== '' || password !== '' || hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname ?? ''));
}

function checked<S extends z.ZodType>(schema: S, json: unknown): z.output<S> {
  const { data, error, success } = schema.safeParse(json);
  if (!success) throw new Error(firstIssueOf(error));
  return data;
}

function firstIssueOf(error: z.ZodError | undefined): string {
  const [issue] = error?.issues ?? [];
  return `${issue?.path.join('.') || 'the file'}: ${issue?.message ?? 'it is not valid'}`;
}
