import { closeSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { io } from 'socket.io-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { itInFull, Seen } from '@tendon/testing';
import { TendonProcess } from '@tendon/testing/servers';

type Frame = Readonly<Record<string, unknown>>;

/** What a client was sent; an end without a close, or without words, is waited for in vain. */
interface Session {
  readonly frames: Seen<Frame>;
  readonly closed: Promise<unknown>;
}

interface Client {
  readonly name: string;
  /** `token`: of a session of 2024 that stands for the conversation. */
  readonly open: (url: string, id: string, token: string) => Session;
}

function socketIo(url: string, query: Readonly<Record<string, string>>, transport: 'polling' | 'websocket', hello?: Frame): Session {
  const socket = io(url, { forceNew: true, reconnection: false, transports: [transport], query });
  const frames = new Seen<Frame>();
  socket.on('oh_event', (frame: Frame) => frames.take(frame));
  if (hello) socket.on('connect', () => void socket.emit('oh_action', hello));
  onTestFinished(() => void socket.close());
  return { frames, closed: new Promise((resolve) => socket.once('disconnect', resolve)) };
}

function plain(url: string, query: string, protocols: readonly string[] = []): Session {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws${query}`, [...protocols]);
  const frames = new Seen<Frame>();
  socket.on('message', (data: Buffer) => frames.take(JSON.parse(data.toString()) as Frame));
  onTestFinished(() => socket.terminate());
  return { frames, closed: new Promise((resolve) => socket.once('close', resolve)) };
}

const CLIENTS: readonly Client[] = [
  { name: 'OpenHands 0.18 to 0.62', open: (url, id) => socketIo(url, { conversation_id: id, latest_event_id: '-1' }, 'websocket') },
  { name: 'the same by polling', open: (url, id) => socketIo(url, { conversation_id: id, latest_event_id: '-1' }, 'polling') },
  { name: 'the document', open: (url, id) => socketIo(url, { conversation_id: id, dialect: 'events-doc' }, 'websocket') },
  {
    name: 'OpenHands 0.15 to 0.17',
    open: (url, _id, token) => socketIo(url, {}, 'websocket', { action: 'initialize', args: {}, token, latest_event_id: -1 }),
  },
  { name: '/ws with an id', open: (url, id) => plain(url, `?conversation_id=${id}`) },
  { name: '/ws with a token', open: (url, _id, token) => plain(url, `?token=${token}`) },
  { name: '/ws with subprotocols', open: (url, _id, token) => plain(url, '', ['openhands', token, 'NO_GITHUB']) },
];

const isAnswer = (frame: Frame): boolean => JSON.stringify(frame).includes('hello from the agent');

/** A stopped conversation with a message, and a token that stands for it. */
async function stopped(tendon: TendonProcess): Promise<{ readonly id: string; readonly token: string }> {
  const socket = io(tendon.url, { forceNew: true, reconnection: false, transports: ['websocket'] });
  onTestFinished(() => void socket.close());
  const frames = new Seen<Frame>();
  socket.on('oh_event', (frame: Frame) => frames.take(frame));
  socket.emit('oh_action', { action: 'initialize', args: {} });
  const { token } = await frames.until((frame) => typeof frame.token === 'string', 'the token');
  socket.emit('oh_action', { action: 'message', args: { content: 'hi' } });
  await frames.until(isAnswer, 'the answer');
  const [conversation] = await tendon.conversations();
  const id = conversation!.conversation_id;
  await tendon.json(`/api/conversations/${id}/stop`, {});
  return { id, token: String(token) };
}

/** Every client is notified of the failure and disconnected. */
async function allAreNotifiedAndDisconnected(tendon: TendonProcess, words: RegExp, id: string, token: string): Promise<void> {
  for (const { name, open } of CLIENTS) {
    const { frames, closed } = open(tendon.url, id, token);
    await frames.until((frame) => words.test(JSON.stringify(frame)), `the failure sent to ${name}`);
    await closed;
  }
}

const script = [{ text: 'hello from the agent' }];

describe('SV192: a conversation that cannot be opened', () => {
  it('on a full disk: every client is notified and disconnected, and gets in when there is space', async () => {
    const tendon = await TendonProcess.onSmallDisk(16, script);
    onTestFinished(() => tendon.remove());
    const { id, token } = await stopped(tendon);
    const filler = join(tendon.homeInside, 'filler');
    fill(filler);
    await allAreNotifiedAndDisconnected(tendon, /cannot store this/, id, token);
    expect(tendon.output).not.toMatch(/nobody looked after/);

    rmSync(filler);
    for (const { name, open } of CLIENTS) await open(tendon.url, id, token).frames.until(isAnswer, `the answer, by ${name}`);
  });

  itInFull('with a damaged page of its events: every client is notified and disconnected', async () => {
    const tendon = await TendonProcess.scripted(script);
    onTestFinished(() => tendon.remove());
    const { id, token } = await stopped(tendon);
    await tendon.kill('SIGTERM');
    damage(join(tendon.home, 'tendon.db'), 'events');
    await tendon.start();
    await allAreNotifiedAndDisconnected(tendon, /failed on this/, id, token);
    expect(tendon.output).not.toMatch(/nobody looked after/);
  });
});

/** Writes until there is no room for one more byte. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  for (let size = 1 << 20; size > 0;) {
    try {
      writeSync(file, Buffer.alloc(size));
    } catch {
      size >>= 1;
    }
  }
  closeSync(file);
}

/** Scribbles over the first page of a table, by which all of its rows are found. */
function damage(path: string, table: string): void {
  const database = new DatabaseSync(path);
  const { rootpage } = database.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table) as { rootpage: number };
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  const bytes = readFileSync(path);
  bytes.fill(0xa5, (rootpage - 1) * 4096, (rootpage - 1) * 4096 + 200);
  writeFileSync(path, bytes);
}
