import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { agentNames, type AgentFile, type Runtimes } from '@tendon/core';
import { catalogError, type CatalogError } from '@tendon/protocol';
import type { Logger } from '../../platform/logger.ts';
import type { StoredConversation } from '../conversation-records.ts';

const MAX_FILES = 50;
const MAX_BYTES = 64 * 1024;
const START_MS = 15_000;

/** `agent_file` is missing for an agent that is built in. */
export interface FoundAgent {
  readonly agent: string;
  readonly agent_file?: AgentFile | undefined;
}

export interface AgentPlaces {
  readonly home: string;
  readonly runtimes: Runtimes;
  readonly logger: Logger;
}

/** The user's own agents: `<home>/agents/*.md`, by name. A file that is not what it should be is left out, and reported. */
export async function userAgents({ home, logger }: Pick<AgentPlaces, 'home' | 'logger'>): Promise<readonly AgentFile[]> {
  const folder = join(home, 'agents');
  const entries = await readdir(folder).catch(() => []);
  const names = entries.filter((name) => name.endsWith('.md') && name !== 'README.md');
  if (names.length === 0) return [];
  const { parseAgentFile } = await import('@tendon/core/knowledge');
  const found: AgentFile[] = [];
  for (const name of names.toSorted().slice(0, MAX_FILES)) {
    const path = join(folder, name);
    const text = await readSmall(path).catch((error: unknown) => void logger.warn(`${path}: ${String(error)}`));
    if (text === undefined) continue;
    const parsed = parseAgentFile(name.slice(0, -'.md'.length), text);
    if ('problem' in parsed) logger.warn(`${path}: ${parsed.problem}`);
    else if (!agentNames().includes(parsed.file.name)) found.push(parsed.file);
  }
  return found;
}

/** Built in, then the user's own, then those of the workspace: what comes with a repository takes nobody's name. */
export async function findAgentFile(
  record: Pick<StoredConversation, 'id' | 'selected_repository'> | undefined,
  name: string,
  places: AgentPlaces,
): Promise<FoundAgent | CatalogError> {
  if (agentNames().includes(name)) return { agent: name, agent_file: undefined };
  const own = await userAgents(places);
  const all = [...own, ...(own.some((file) => file.name === name) || !record ? [] : await agentsOfWorkspace(record, places))];
  const file = all.find((one) => one.name === name);
  if (file) return { agent: name, agent_file: file };
  const known = [...agentNames(), ...new Set(all.map((one) => one.name))];
  return catalogError('INVALID_ARGUMENTS', `agent: there is no agent "${name}"; there are ${known.join(', ')}`);
}

async function agentsOfWorkspace(
  { id, selected_repository: repository }: Pick<StoredConversation, 'id' | 'selected_repository'>,
  { runtimes, logger }: AgentPlaces,
): Promise<readonly AgentFile[]> {
  if (runtimes.current(id) === undefined && (await runtimes.isWorkspaceEmpty?.(id).catch(() => false))) return [];
  try {
    const runtime = runtimes.current(id) ?? (await runtimes.acquire(id, { signal: AbortSignal.timeout(START_MS) }));
    const { workspaceAgents } = await import('@tendon/core/knowledge');
    const folder = repository?.split('/').at(-1);
    return await workspaceAgents(runtime.files, { folder: folder && `${folder}/`, onProblem: (problem) => logger.warn(problem) });
  } catch (cause) {
    logger.warn({ err: cause, conversation: id }, 'the agents of the workspace could not be read');
    return [];
  }
}

async function readSmall(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
    const buffer = Buffer.alloc(size);
    const { bytesRead } = await file.read(buffer, 0, size, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
