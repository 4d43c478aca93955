/** Two servers and a gateway on one Postgres: a client is served alike wherever it comes in. */
import { io, type Socket } from 'socket.io-client';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { Seen, waitFor } from '@tendon/testing';
import type { TendonProcess, WireEvent } from '@tendon/testing/servers';
import { Cluster, SCRIPT } from './cluster.ts';

let cluster: Cluster;
let one: TendonProcess;
let two: TendonProcess;
let gateway: TendonProcess;
beforeAll(async () => {
  cluster = await Cluster.start();
  [one, two, gateway] = [await cluster.add({}, SCRIPT), await cluster.add({}, SCRIPT), await cluster.gateway({}, SCRIPT)];
});
afterAll(() => cluster.remove());

const isAnswer = ({ content, args, source }: WireEvent): boolean => source === 'agent' && [content, args?.content].includes('It is done.');

it('SV1232: a client that names no conversation begins one through a gateway, and comes back to it through any server', async () => {
  const begun = await plain(gateway, '');
  const { token } = await begun.frames.until((frame) => typeof frame.token === 'string', 'a token');
  begun.socket.send(JSON.stringify({ action: 'initialize', args: {} }));
  begun.socket.send(JSON.stringify({ action: 'start', args: { task: 'Do it.' } }));
  await begun.frames.until((frame) => JSON.stringify(frame).includes('It is done.'), 'the answer');
  begun.socket.terminate();
  for (const server of [one, two, gateway]) {
    const back = await plain(server, `?token=${String(token)}`);
    await back.frames.until((frame) => JSON.stringify(frame).includes('It is done.'), 'the past');
    back.socket.terminate();
  }
  const lists = await Promise.all([one, two].map((server) => server.conversations()));
  expect(lists[0]).toEqual(lists[1]);
  expect(Object.keys(await cluster.owned())).not.toContain(gateway.url);
});

it('SV1232: a client of the document, by either transport, comes back to its conversation through any server', async () => {
  for (const transport of ['polling', 'websocket']) {
    const begun = document(gateway, transport);
    begun.socket.emit('oh_action', { action: 'message', args: { content: 'Do it.' } });
    const { id } = await begun.frames.until(isAnswer, `the answer over ${transport}`);
    const { _pid: pid } = begun.socket as unknown as { readonly _pid?: string };
    expect(pid).toMatch(/^[0-9a-f]{32}$/);
    begun.socket.disconnect();
    for (const [at, server] of [one, two, gateway, gateway].entries()) {
      const back = document(server, transport, { pid, offset: String(id - 1) });
      expect((await back.frames.until(isAnswer, `the past over ${transport}`)).id).toBe(id);
      back.socket.emit('oh_action', { action: 'message', args: { content: `Again, ${at}.` } });
      await back.frames.until(({ source, args }) => source === 'user' && args?.content === `Again, ${at}.`, 'its own words');
      back.socket.disconnect();
    }
  }
});

it('SV1232: a client of 0.15 comes back with its token in band, through any server', async () => {
  const begun = connect(gateway, {});
  begun.socket.emit('oh_action', { action: 'initialize', args: {} });
  const { token } = (await begun.frames.until((frame) => 'token' in frame, 'a token')) as unknown as { readonly token: string };
  begun.socket.emit('oh_action', { action: 'message', args: { content: 'Do it.' } });
  await begun.frames.until((frame) => JSON.stringify(frame).includes('It is done.'), 'the answer');
  begun.socket.disconnect();
  // A gateway leads it to either of them.
  for (const server of [one, two, gateway, gateway, gateway, gateway]) {
    const back = connect(server, {});
    back.socket.emit('oh_action', { action: 'initialize', args: {}, token, latest_event_id: -1 });
    const past = await back.frames.until((frame) => JSON.stringify(frame).includes('It is done.'), 'the past');
    expect(past.source).toBe('agent');
    back.socket.disconnect();
  }
});

async function plain(server: TendonProcess, query: string) {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/ws${query}`);
  onTestFinished(() => socket.terminate());
  const frames = new Seen<Readonly<Record<string, unknown>>>();
  socket.on('message', (data: Buffer) => frames.take(JSON.parse(data.toString()) as Readonly<Record<string, unknown>>));
  await waitFor(new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject)), () => `a socket at /ws${query}`);
  return { socket, frames };
}

function connect(server: TendonProcess, options: Parameters<typeof io>[1]): { readonly socket: Socket; readonly frames: Seen<WireEvent> } {
  const socket = io(server.url, { forceNew: true, transports: ['websocket'], ...options });
  onTestFinished(() => void socket.close());
  const frames = new Seen<WireEvent>();
  socket.on('oh_event', (frame: WireEvent) => frames.take(frame));
  return { socket, frames };
}

function document(server: TendonProcess, transport: string, auth: object = {}) {
  return connect(server, { transports: [transport], upgrade: false, query: { dialect: 'events-doc' }, auth });
}
