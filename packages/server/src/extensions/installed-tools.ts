/** The tools of the server's user: files in `tools` of the home, and in enabled plugins. */
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { agentNames, defineTool, findAgent, OPTIONAL_TOOL_NAMES, type Clock, type Tool } from '@tendon/core';
import { CallToolMcpAction } from '@tendon/protocol';
import { isWithin } from '@tendon/runtime';
import { z } from 'zod';
import { loadTool, type ToolFile } from './tool-program.ts';

export interface ToolFolder {
  readonly path: string;
  /** No file of it may lead out of here; default: the files may lie anywhere. */
  readonly within?: string;
  readonly env: ToolFile['env'];
}

export interface InstalledTool {
  readonly file: ToolFile;
  /** As the model is offered it. */
  readonly tool: Tool;
  /** Its calls run at the same time as others. */
  readonly isReadOnly: boolean;
  /** Others wrote what it returns. */
  readonly isOutside: boolean;
  readonly timeoutMs: number;
  /** Names of stored secrets. */
  readonly secrets: readonly string[];
}

export interface InstalledTools {
  readonly tools: readonly InstalledTool[];
  /** One sentence for each file or folder that does not count. */
  readonly problems: readonly string[];
}

const MAX_TOOLS = 32;
const MAX_SCHEMA_CHARS = 16 * 1024;
/** So many are loaded at the same time. */
const AT_ONCE = 4;
/** A file that could not be loaded is loaded again after so long: what it imports may be there then. */
const AGAIN_MS = 60_000;

const Definition = z.strictObject({
  name: z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'a letter, then letters, digits, _ and - are expected, at most 64'),
  description: z.string().trim().min(1).max(2_000),
  parameters: z.looseObject({ type: z.literal('object') }).default({ type: 'object', properties: {} }),
  run: z.literal('function', 'a function is expected'),
  readOnly: z.boolean().default(false),
  outside: z.boolean().default(false),
  timeout: z.number().int().min(1).max(3_600).default(60),
  secrets: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/))
    .max(20)
    .default([]),
});

/** In the order in which they count. */
export function toolFolders(home: string, plugins: readonly { readonly toolFolder: ToolFolder | undefined }[]): readonly ToolFolder[] {
  return [{ path: join(home, 'tools'), env: {} }, ...plugins.flatMap(({ toolFolder }) => toolFolder ?? [])];
}

type Loaded = InstalledTool | { readonly problem: string };

/** Holds what the files have exported, for as long as they are as they were. One for the whole server. */
export class ToolFiles {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #known = new Map<string, { readonly stamp: string; readonly loaded: Promise<Loaded>; readonly begunAt: number }>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** As the files are now; of tools with the same name the first counts. Never rejects. */
  async read(folders: readonly ToolFolder[]): Promise<InstalledTools> {
    const found = await Promise.all(folders.map(filesIn));
    const problems = found.flatMap((each) => each.problems);
    const tools = new Map<string, InstalledTool>();
    for (const loaded of await this.#loadAll(found.flatMap(({ files }) => files))) {
      if ('problem' in loaded) problems.push(loaded.problem);
      else if (tools.has(loaded.tool.spec.name))
        problems.push(leftOut(loaded.file, `${tools.get(loaded.tool.spec.name)!.file.path} has the same name`));
      else tools.set(loaded.tool.spec.name, loaded);
    }
    return { tools: [...tools.values()], problems };
  }

  async #loadAll(files: readonly StampedFile[]): Promise<readonly Loaded[]> {
    const all: Loaded[] = [];
    for (let from = 0; from < files.length; from += AT_ONCE)
      all.push(...(await Promise.all(files.slice(from, from + AT_ONCE).map((file) => this.#load(file)))));
    return all;
  }

  async #load({ stamp, ...file }: StampedFile): Promise<Loaded> {
    const now = this.#clock.now().getTime();
    const known = this.#known.get(file.path);
    if (known?.stamp === stamp && (now - known.begunAt < AGAIN_MS || !('problem' in (await known.loaded)))) return known.loaded;
    const loaded = loadToolFile(file);
    this.#known.set(file.path, { stamp, loaded, begunAt: now });
    return loaded;
  }
}

interface StampedFile extends ToolFile {
  /** Another one for each change. */
  readonly stamp: string;
}

async function filesIn({
  path,
  within,
  env,
}: ToolFolder): Promise<{ readonly files: readonly StampedFile[]; readonly problems: string[] }> {
  const problems: string[] = [];
  const entries = await readdir(path).catch(({ code, message }: NodeJS.ErrnoException) => {
    if (code !== 'ENOENT') problems.push(`The tools in ${path} do not count: ${message}.`);
    return [];
  });
  const names = entries.filter(isToolName).toSorted();
  if (names.length > MAX_TOOLS) problems.push(`Only the first ${MAX_TOOLS} tools in ${path} count.`);
  const files = await Promise.all(names.slice(0, MAX_TOOLS).map((name) => stamped({ path: join(path, name), env }, within, problems)));
  return { files: files.filter((file) => file !== undefined), problems };
}

function isToolName(name: string): boolean {
  return /\.m?[jt]s$/.test(name) && !/^\.|\.d\.m?ts$|\.test\.m?[jt]s$/.test(name);
}

async function stamped(file: ToolFile, within: string | undefined, problems: string[]): Promise<StampedFile | undefined> {
  try {
    const target = await realpath(file.path);
    if (within !== undefined && !isWithin(target, within)) throw new Error('it leads out of the plugin');
    const found = await stat(target);
    if (!found.isFile()) throw new Error('it is not a file');
    return { ...file, stamp: `${target} ${found.ino} ${found.size} ${found.mtimeMs}` };
  } catch (error) {
    problems.push(leftOut(file, (error as Error).message));
    return undefined;
  }
}

/** Loads it anew. Never rejects. */
export async function loadToolFile(file: ToolFile): Promise<Loaded> {
  const loaded = await loadTool(file);
  if ('failure' in loaded) return { problem: leftOut(file, loaded.failure) };
  const { data, error } = Definition.safeParse(loaded.definition);
  if (!data) {
    const [issue] = error.issues;
    const isNothing = Object.keys((loaded.definition ?? {}) as object).length === 1;
    const hint = isNothing ? ' (export default, or export const tool, is missing)' : '';
    return { problem: leftOut(file, `${issue?.path.join('.') || 'the tool'}: ${issue?.message ?? 'it is not valid'}${hint}`) };
  }
  try {
    return installed(file, data);
  } catch (cause) {
    return { problem: leftOut(file, (cause as Error).message) };
  }
}

/** Throws an Error that says why it cannot be offered. */
function installed(file: ToolFile, definition: z.output<typeof Definition>): InstalledTool {
  const { name, description, parameters, readOnly, outside, timeout, secrets } = definition;
  if (ownNames().has(name)) throw new Error(`the agent has a tool ${name} of its own`);
  if (JSON.stringify(parameters).length > MAX_SCHEMA_CHARS) throw new Error(`parameters: more than ${MAX_SCHEMA_CHARS} characters`);
  const { toAction } = defineTool({
    name,
    description,
    parameters: schemaOf(parameters),
    needsSandbox: false,
    toAction: (args) => CallToolMcpAction.create({ name, arguments: args }),
  });
  const { $schema: _dialect, ...shown }: Readonly<Record<string, unknown>> = parameters;
  const tool: Tool = { spec: { name, description, parameters: shown }, needsSandbox: false, toAction };
  return { file, tool, isReadOnly: readOnly, isOutside: outside, timeoutMs: timeout * 1000, secrets };
}

function schemaOf(parameters: z.output<typeof Definition>['parameters']): z.ZodObject {
  try {
    return z.fromJSONSchema(parameters as Parameters<typeof z.fromJSONSchema>[0]) as z.ZodObject;
  } catch (cause) {
    throw new Error(`parameters: ${(cause as Error).message}`, { cause });
  }
}

/** Made once: agents do not change. */
let names: ReadonlySet<string> | undefined;

function ownNames(): ReadonlySet<string> {
  const ofAgents = (): string[] => agentNames().flatMap((name) => findAgent(name).tools.map(({ spec }) => spec.name));
  return (names ??= new Set<string>([...ofAgents(), ...OPTIONAL_TOOL_NAMES, 'delegate', 'use_skill']));
}

function leftOut({ path }: ToolFile, why: string): string {
  return `The tool ${basename(path)} does not count: ${why}. See tendon tools.`;
}
