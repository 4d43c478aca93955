import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { BrowserRequest } from '@tendon/protocol/executor-api';
import { listenBrowser, type BrowserSidecar } from './browser-sidecar.ts';

const REQUEST = { proxyUrl: 'http://127.0.0.1:8000', startUrl: 'https://example.org/' };

let folder = '';
let sidecar: BrowserSidecar;
let requests: BrowserRequest[] = [];
let children: ChildProcess[] = [];
/** Stands for the browser. */
let program: readonly [string, ...string[]] = ['cat'];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tendon-sidecar-'));
  [requests, children, program] = [[], [], ['cat']];
  sidecar = await listenBrowser(join(folder, 'socket'), async (request) => {
    requests.push(request);
    const [name, ...args] = program;
    if (name === 'none') throw new Error('there can be none');
    const child = spawn(name, args);
    children.push(child);
    return child;
  });
});
afterEach(async () => {
  await sidecar.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(...lines: readonly unknown[]): Socket {
  const socket = connect(join(folder, 'socket'));
  socket.on('error', () => {});
  for (const line of lines) socket.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  return socket;
}

async function allOf(socket: Socket): Promise<string> {
  let text = '';
  for await (const data of socket.setEncoding('utf8')) text += data;
  return text;
}

it('SB56: starts what was asked for, passes lines on both ways, and reports how it ended', async () => {
  const socket = open(REQUEST, 'order 1', 'order 2');
  socket.end();
  expect(await allOf(socket)).toMatch(/^\n*order 1\n+order 2\n+{"type":"ended","how":"exit code 0"}\n$/);
  program = ['sh', '-c', 'echo broken >&2; exit 7'];
  expect(await allOf(open({}))).toContain('"exit code 7: broken"');
  program = ['sh', '-c', 'exit 3'];
  expect(await allOf(open({}))).toContain('Chromium was killed or crashed');
  expect(requests).toEqual([REQUEST, {}, {}]);
});

it('SB56: says why there can be none', async () => {
  program = ['none'];
  expect(await allOf(open(REQUEST))).toBe(`\n${JSON.stringify({ type: 'failed', reason: 'there can be none' })}\n`);
});

it.each([
  ['no JSON', 'hello'],
  ['nothing', 'null '.repeat(2)],
  ['another proxy', { proxyUrl: 'http://127.0.0.1:1;https=evil' }],
  ['another host', { proxyUrl: 'http://10.0.0.1:8000' }],
  ['a switch', { startUrl: '--no-sandbox' }],
  ['a file of the host', { startUrl: 'file:///etc/passwd' }],
  ['no end', 'x'.repeat(100_000)],
])('SB57: starts nothing for a first line with %s', async (_what, line) => {
  expect(await allOf(open(line)).catch(() => '')).toBe('');
  expect(requests).toEqual([]);
});

it('SB57: what else the first line says is not passed on', async () => {
  const socket = open({ ...REQUEST, chromium: '/workspace/evil', workspace: '/', profile: '/' });
  socket.end();
  await allOf(socket);
  expect(requests).toEqual([REQUEST]);
});

it('SB57: a browser without its connection, or whose socket closes, is killed', async () => {
  program = ['sh', '-c', 'echo up; exec sleep 1000'];
  const first = open(REQUEST);
  await once(first, 'data');
  first.destroy();
  expect(await once(children[0]!, 'exit')).toEqual([null, 'SIGKILL']);
  await once(open(REQUEST), 'data');
  await sidecar.close();
  expect(children[1]).toMatchObject({ signalCode: 'SIGKILL' });
});
