/**
 * What an agent, an MCP server or a model sends to hold the server's thread. A real server process is given each of it and must go on
 * answering others; how much of its thread the input took is read from the kernel's account of that thread, which no busy machine makes longer.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { TendonProcess } from '../support/tendon-process.ts';
import { Watcher } from '../support/watcher.ts';

/** An MCP server over HTTP with one tool, whose schema of results a backtracking regular expression never finishes on its result. */
async function endlessSchema(): Promise<string> {
  const answers: Readonly<Record<string, unknown>> = {
    initialize: { protocolVersion: '2025-03-26', capabilities: { tools: {} }, serverInfo: { name: 'endless', version: '1' } },
    'tools/list': {
      tools: [
        {
          name: 'read',
          inputSchema: { type: 'object' },
          outputSchema: { type: 'object', properties: { x: { type: 'string', pattern: '^(a+)+$' } } },
        },
      ],
    },
    'tools/call': { content: [{ type: 'text', text: 'read it' }], structuredContent: { x: `${'a'.repeat(60)}!` } },
  };
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

/** A server whose thread is held would not hear that it is to end. */
function endAtOnce(tendon: TendonProcess): void {
  onTestFinished(async () => {
    await tendon.kill('SIGKILL');
    await tendon.remove();
  });
}

/** What the server's own thread has computed since it started, in hundredths of a second of the processor. */
function computed({ pid }: TendonProcess): number {
  const fields = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

async function isAlive(tendon: TendonProcess): Promise<boolean> {
  return (await fetch(`${tendon.url}/alive`, { signal: AbortSignal.timeout(60_000) })).ok;
}

it('SV310: a schema of an MCP server is never run in the server: its result is given to the model as it is', async () => {
  const tendon = await TendonProcess.scripted([
    { toolCalls: [{ name: '127_0_0_1_read', arguments: {} }] },
    { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] },
  ]);
  endAtOnce(tendon);
  const mcp_config = { shttp_servers: [{ url: await endlessSchema() }] };
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', { mcp_config });
  const watcher = new Watcher(tendon.url, id);
  onTestFinished(() => watcher.close());
  await tendon.json(`/api/conversations/${id}/events`, { action: 'message', args: { content: 'read' } });
  const result = await watcher.until(({ observation }) => observation === 'mcp' || observation === 'error', 'the result of the call');
  expect(result).toMatchObject({ observation: 'mcp', content: 'read it' });
  expect(await isAlive(tendon)).toBe(true);
});

it('EN310: an answer with five thousand calls costs the log one event, and the agent goes on', async () => {
  const calls = Array.from({ length: 5_000 }, (_, n) => ({ name: 'think', arguments: { thought: `thought ${n}` } }));
  const tendon = await TendonProcess.scripted([{ toolCalls: calls }, { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] }]);
  endAtOnce(tendon);
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {});
  const watcher = new Watcher(tendon.url, id);
  onTestFinished(() => watcher.close());
  await tendon.json(`/api/conversations/${id}/events`, { action: 'message', args: { content: 'think' } });
  await watcher.until(({ extras }) => extras?.agent_state === 'finished', 'the end of the task');
  expect(watcher.events.filter(({ action }) => action === 'think')).toEqual([]);
  expect(watcher.events.filter(({ observation }) => observation === 'error')).toMatchObject([
    { content: expect.stringContaining('5000 calls') as string },
  ]);
  expect(await isAlive(tendon)).toBe(true);
});

it('SV311: a .gitignore made to be slow costs the server no more than one that is not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-ignored-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  for (let n = 0; n < 3_000; n++) writeFileSync(join(folder, `${'a'.repeat(240)}${n}`), '');
  const tendon = await TendonProcess.scripted([{ text: 'hello' }], { RUNTIME: 'local', WORKSPACE_BASE: folder });
  endAtOnce(tendon);
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {});
  const cost = async (rules: string): Promise<number> => {
    writeFileSync(join(folder, '.gitignore'), rules);
    const before = computed(tendon);
    for (const route of ['list-files', 'files/tree']) await tendon.json(`/api/conversations/${id}/${route}`);
    return computed(tendon) - before;
  };
  await cost('build/\n');
  const plain = await cost('build/\n');
  const hostile = await cost(Array.from({ length: 2_000 }, (_, n) => `*a*a*a${n}x\n`).join(''));
  // Matched in the server it is more than a hundred times as much.
  expect(hostile).toBeLessThan(10 * plain + 100);
  expect(await isAlive(tendon)).toBe(true);
});

it('EN311: microagents whose front matter is made to be slow cost the server little', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-knowledge-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  mkdirSync(join(folder, '.openhands/microagents'), { recursive: true });
  const tendon = await TendonProcess.scripted([{ text: 'hello' }], { WORKSPACE_BASE: folder });
  endAtOnce(tendon);
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {});
  const cost = async (front: string): Promise<number> => {
    for (let n = 0; n < 200; n++) writeFileSync(join(folder, `.openhands/microagents/m${n}.md`), `---\n${front}\n---\ntext ${n}`);
    const before = computed(tendon);
    const { microagents } = await tendon.json<{ microagents: readonly unknown[] }>(`/api/conversations/${id}/microagents`);
    expect(microagents).toHaveLength(200);
    return computed(tendon) - before;
  };
  await cost('type: repo');
  const plain = await cost('type: repo');
  const hostile = await cost('['.repeat(16_000));
  expect(hostile).toBeLessThan(5 * plain + 100);
  expect(await isAlive(tendon)).toBe(true);
});
