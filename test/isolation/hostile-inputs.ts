/** What an agent, an MCP server or a model sends to hold the server's thread, each with a real server process to give it to. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { TendonProcess, Watcher, type WireEvent } from '@tendon/testing/servers';

export interface HostileInput {
  readonly tendon: TendonProcess;
  readonly conversation: string;
  /** Gives it to the server, and resolves when the server is done with it. */
  work(): Promise<void>;
}

/** A folder that a conversation works in, and that its agent may fill. */
export interface HostileFolder extends HostileInput {
  put(path: string, text: string): void;
  /** As a user would on the host. */
  git(...words: readonly string[]): void;
}

const FINISH = { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] };

/** An agent calls a tool whose schema of results, a backtracking regular expression, never finishes on its result. */
export function endlessSchema(): Promise<CalledTool> {
  const outputSchema = { type: 'object', properties: { x: { type: 'string', pattern: '^(a+)+$' } } };
  return calledTool({ outputSchema }, { content: [{ type: 'text', text: 'read it' }], structuredContent: { x: `${'a'.repeat(60)}!` } }, {});
}

/** An MCP server whose answers are wrong in a hundred thousand places each. */
export function wrongAnswers(): Promise<CalledTool> {
  const wrong = Array.from({ length: 100_000 }, () => ({ type: 'x' }));
  return calledTool({ icons: wrong, annotations: wrong }, { content: [...wrong, { type: 'text', text: 'read it' }] }, { icons: wrong });
}

type CalledTool = HostileInput & { readonly result: Promise<WireEvent> };

async function calledTool(tool: object, result: object, serverInfo: object): Promise<CalledTool> {
  const tendon = await serverOf([{ toolCalls: [{ name: '127_0_0_1_read', arguments: {} }] }, FINISH]);
  const url = await hostileServer({
    initialize: {
      protocolVersion: '2025-03-26',
      capabilities: { tools: {} },
      serverInfo: { name: 'hostile', version: '1', ...serverInfo },
    },
    'tools/list': { tools: [{ name: 'read', inputSchema: { type: 'object' }, ...tool }] },
    'tools/call': result,
  });
  const conversation = await begun(tendon, { mcp_config: { shttp_servers: [{ url }] } });
  const watcher = watch(tendon, conversation);
  const answered = watcher.until(({ observation }) => observation === 'mcp' || observation === 'error', 'the result of the call');
  return { tendon, conversation, result: answered, work: () => asked(tendon, conversation, watcher) };
}

/** A model answers with so many calls at once. */
export async function manyCalls(count: number): Promise<HostileInput & { readonly events: readonly WireEvent[] }> {
  const toolCalls = Array.from({ length: count }, (_, n) => ({ name: 'think', arguments: { thought: `thought ${n}` } }));
  const tendon = await serverOf([{ toolCalls }, FINISH]);
  const conversation = await begun(tendon);
  const watcher = watch(tendon, conversation);
  return { tendon, conversation, events: watcher.events, work: () => asked(tendon, conversation, watcher) };
}

/** A workspace in a sandbox with three thousand long names; `work` lists it. */
export async function longNames(): Promise<HostileFolder> {
  const input = await folderOf({ RUNTIME: 'local' }, ['list-files', 'files/tree']);
  for (let n = 0; n < 3_000; n++) input.put(`${'a'.repeat(240)}${n}`, '');
  return input;
}

export const SLOW_RULES = Array.from({ length: 2_000 }, (_, n) => `*a*a*a${n}x\n`).join('');

/** A workspace whose two hundred microagents begin with this; `work` reads them. */
export async function microagents(front: string): Promise<HostileFolder> {
  const input = await folderOf({}, ['microagents']);
  fillMicroagents(input, front);
  return input;
}

export function fillMicroagents({ put }: HostileFolder, front: string): void {
  for (let n = 0; n < 200; n++) put(`.openhands/microagents/m${n}.md`, `---\n${front}\n---\ntext ${n}`);
}

/** A workspace with so many files; `work` asks for their tree. */
export async function manyFiles(count: number): Promise<HostileFolder> {
  const input = await folderOf({}, ['files/tree']);
  for (let n = 0; n < count; n++) input.put(`d${n % 50}/e${n % 7}/file${n}`, '');
  return input;
}

/** A repository with so many new files, and a changed one of two million lines; `work` asks what changed, and for a zip of it all. */
export async function manyChanges(count: number): Promise<HostileFolder> {
  const input = await folderOf({ RUNTIME: 'local' }, ['git/changes', 'git/diff?path=lines'], ['zip-directory']);
  input.git('init', '-q');
  input.put('lines', 'a\n'.repeat(2_000_000));
  input.git('add', 'lines');
  input.git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'lines');
  input.put('lines', 'b\n'.repeat(2_000_000));
  for (let n = 0; n < count; n++) input.put(`d${n % 50}/file${n}`, '');
  return input;
}

async function folderOf(env: NodeJS.ProcessEnv, routes: readonly string[], downloads: readonly string[] = []): Promise<HostileFolder> {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-hostile-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  const tendon = await serverOf([{ text: 'hello' }], { WORKSPACE_BASE: folder, ...env });
  const conversation = await begun(tendon);
  return {
    tendon,
    conversation,
    put(path, text) {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), text);
    },
    git(...words) {
      execFileSync('git', words, { cwd: folder });
    },
    async work() {
      const address = `/api/conversations/${conversation}`;
      for (const route of routes) await tendon.json(`${address}/${route}`);
      for (const route of downloads) {
        const answer = await fetch(`${tendon.url}${address}/${route}`);
        if (!answer.ok) throw new Error(`${route}: ${answer.status}`);
        await answer.arrayBuffer();
      }
    },
  };
}

async function serverOf(script: readonly unknown[], env: NodeJS.ProcessEnv = {}): Promise<TendonProcess> {
  const tendon = await TendonProcess.scripted(script, env);
  // A server whose thread is held would not hear that it is to end.
  onTestFinished(async () => {
    await tendon.kill('SIGKILL');
    await tendon.remove();
  });
  return tendon;
}

async function begun(tendon: TendonProcess, body: object = {}): Promise<string> {
  return (await tendon.json<{ conversation_id: string }>('/api/conversations', body)).conversation_id;
}

function watch(tendon: TendonProcess, conversation: string): Watcher {
  const watcher = new Watcher(tendon.url, conversation);
  onTestFinished(() => watcher.close());
  return watcher;
}

async function asked(tendon: TendonProcess, conversation: string, watcher: Watcher): Promise<void> {
  await tendon.json(`/api/conversations/${conversation}/events`, { action: 'message', args: { content: 'begin' } });
  await watcher.until(({ extras }) => extras?.agent_state === 'finished', 'the end of the task');
}

/** An MCP server over HTTP, by the results of its methods. */
async function hostileServer(answers: Readonly<Record<string, unknown>>): Promise<string> {
  const http = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method } = (await json(request)) as { readonly id?: number; readonly method: string };
    if (id === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] ?? {} }));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => http.once('listening', resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
}
