/** A conversation that a client began with a key of its own goes on with that key, whatever becomes of its server. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { io } from 'socket.io-client';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { builtTendon, TendonProcess, Watcher } from '@tendon/testing/servers';
import { itInFull, waitFor } from '@tendon/testing';
import { Cluster } from '../cluster/cluster.ts';
import { keyedModel, type KeyedModel } from './keyed-model.ts';

const KEY = 'sk-of-this-conversation-alone';
const WORDS = 'Asked with the right key.';
/** What the server would ask with otherwise. */
const OTHERS = { LLM_MODEL: 'openai/another', LLM_API_KEY: 'sk-of-the-server', LLM_BASE_URL: 'http://127.0.0.1:1/v1', RUNTIME: 'none' };
const run = promisify(execFile);

let cluster: Cluster | undefined;
afterEach(async () => {
  await cluster?.remove();
  cluster = undefined;
});

/** As frontends of 0.15 do it. Resolves with the conversation's id. */
async function beginWithKey(server: TendonProcess, model: KeyedModel): Promise<string> {
  const socket = io(server.url, { forceNew: true, transports: ['websocket'] });
  onTestFinished(() => void socket.close());
  const begun = new Promise<void>((resolve) => socket.on('oh_event', ({ token }: { token?: unknown }) => token && resolve()));
  socket.emit('oh_action', { action: 'initialize', args: { LLM_MODEL: 'openai/m', LLM_API_KEY: KEY, LLM_BASE_URL: model.url } });
  await waitFor(begun, () => 'the answer to initialize');
  socket.close();
  return (await server.conversations())[0]!.conversation_id;
}

async function ask(server: TendonProcess, id: string, model: KeyedModel): Promise<void> {
  const before = model.shown.length;
  const content = `Question ${before}.`;
  const watcher = new Watcher(server.url, id);
  onTestFinished(() => watcher.close());
  await watcher.untilState('awaiting_user_input');
  watcher.send('message', { content, image_urls: [], file_urls: [] });
  const sent = await watcher.until(({ source, args }) => source === 'user' && args?.content === content, 'the message');
  await watcher.until(({ id: at, source, args }) => at > sent.id && source === 'agent' && args?.content === WORDS, 'an answer');
  expect(model.shown.slice(before)).toEqual([`Bearer ${KEY}`]);
  watcher.close();
}

/** All that a server answers about the conversation, and has printed. */
async function shownBy(server: TendonProcess, id: string): Promise<string> {
  const one = `/api/conversations/${id}`;
  const paths = [
    '/api/conversations',
    one,
    `${one}/config`,
    `${one}/models`,
    `${one}/trajectory`,
    `${one}/trajectory?format=atif`,
    `${one}/trajectory?format=markdown`,
    `${one}/events/search`,
    '/api/settings',
    '/api/audit',
    '/metrics',
  ];
  const texts = await Promise.all(paths.map(async (path) => (await fetch(server.url + path)).text()));
  return [...texts, server.output].join('\n');
}

it('SV1260: it goes on with its key after a kill; nothing shows it, nor the home or a backup, and it goes with the conversation', async () => {
  const model = await keyedModel(KEY, WORDS);
  const server = await TendonProcess.start({ ...OTHERS, TENDON_AUDIT: '1', LOG_LEVEL: 'debug' });
  onTestFinished(() => server.remove());
  const id = await beginWithKey(server, model);
  await ask(server, id, model);
  await server.kill('SIGKILL');
  await server.start();
  await ask(server, id, model);
  expect(await shownBy(server, id)).not.toContain(KEY);
  const backup = join(server.home, 'backup');
  const args = ['--conditions=tendon-source', builtTendon(), 'backup', backup, '--with-secrets'];
  await run(process.execPath, args, { env: { ...process.env, HOME: server.home, TENDON_HOME: server.home } });
  const files = readdirSync(server.home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.some(({ parentPath }) => parentPath.startsWith(backup))).toBe(true);
  const holders = files.map(({ parentPath, name }) => join(parentPath, name)).filter((path) => readFileSync(path).includes(KEY));
  expect(holders).toEqual([]);
});

itInFull('SV1260: the server that takes it over asks with its key, and the database does not have it to be read', async () => {
  cluster = await Cluster.start();
  const model = await keyedModel(KEY, WORDS);
  const one = await cluster.add(OTHERS);
  const id = await beginWithKey(one, model);
  await ask(one, id, model);
  const other = await cluster.add(OTHERS);
  await one.kill('SIGKILL');
  await ask(other, id, model);
  const records = await cluster.sql('SELECT json FROM tendon.records');
  expect(records).toContain('"model_access":"v1.');
  const all = [await cluster.dump(), await shownBy(other, id), one.output].join('\n');
  expect(all).not.toContain(KEY);
  expect((await fetch(`${other.url}/api/conversations/${id}`, { method: 'DELETE' })).ok).toBe(true);
  expect(await cluster.sql('SELECT json FROM tendon.records')).not.toContain('model_access');
});
