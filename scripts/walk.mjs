// The walk of one user message: which production files run between a client's message and the agent's answer, on a server from source
// with a sandbox and the scripted model. `node scripts/size.mjs walk` prints it.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { io } from 'socket.io-client';
import { setup } from './setup.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const command = { toolCalls: [{ name: 'execute_bash', arguments: { command: 'true' } }] };
/** The first message starts the sandbox; the second is answered in words, the third by a command and words. */
const SCRIPT = [command, { text: 'One.' }, { text: 'Two.' }, command, { text: 'Three.' }];

/** Prints each path: its files in the order in which they ran first, package after package. */
export async function printWalk() {
  const [words, withCommand] = await walk();
  print('a message that is answered in words', words);
  print('a message that is answered by a command and words', withCommand);
}

function print(title, path) {
  const files = [...new Set(path)];
  const stretches = [];
  for (const file of files) {
    const [, name, , ...rest] = file.split('/');
    if (stretches.at(-1)?.name !== name) stretches.push({ name, files: [] });
    stretches.at(-1).files.push(rest.join('/'));
  }
  // Everything speaks protocol: calling its functions does not take the message into another package.
  const places = stretches.map(({ name }) => name).filter((name) => name !== 'protocol');
  const changes = places.filter((name, at) => at > 0 && name !== places[at - 1]).length;
  process.stdout.write(`${title}: ${files.length} files, ${changes} package changes, ${stretches.length - 1} with protocol\n`);
  for (const { name, files: run } of stretches) process.stdout.write(`  ${name.padEnd(9)}${run.join(' ')}\n`);
}

async function walk() {
  const { node, env } = await setup('start');
  const home = mkdtempSync(join(tmpdir(), 'tendon-walk-'));
  writeFileSync(join(home, 'script.json'), JSON.stringify(SCRIPT));
  const port = await freePort();
  const server = fork(join(root, 'packages/cli/src/main.ts'), ['serve'], {
    execPath: node,
    execArgv: ['--conditions=tendon-source', '--import', join(root, 'scripts/walk-recorder.mjs')],
    cwd: home,
    env: { ...env, HOME: home, TENDON_HOME: home, PORT: String(port), LOG_LEVEL: 'warn', LLM_MODEL: 'scripted/script.json' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const clients = [];
  try {
    const { say, socket } = await converse(`http://127.0.0.1:${port}`);
    clients.push(socket);
    await say('one');
    const paths = [];
    for (const words of ['two', 'three']) {
      server.send('start');
      await say(words);
      server.send('stop');
      const [path] = await once(server, 'message');
      paths.push(path);
    }
    return paths;
  } finally {
    // It would look for a server for ever.
    for (const client of clients) client.disconnect();
    server.kill('SIGTERM');
    await once(server, 'exit');
    rmSync(home, { recursive: true, force: true });
  }
}

/** Opens a conversation; `say` sends a message and waits for the agent's answer. */
async function converse(url) {
  while (!(await fetch(`${url}/alive`).catch(() => undefined))?.ok) await sleep(50);
  const answer = await fetch(`${url}/api/conversations`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
  const { conversation_id } = await answer.json();
  const socket = io(url, { transports: ['websocket'], query: { conversation_id, latest_event_id: '-1' } });
  const next = (test) =>
    new Promise((resolve) => {
      socket.on('oh_event', function listen(event) {
        if (!test(event)) return;
        socket.off('oh_event', listen);
        resolve();
      });
    });
  const isWaiting = ({ observation, extras }) => observation === 'agent_state_changed' && extras.agent_state === 'awaiting_user_input';
  await next(isWaiting);
  const say = async (content) => {
    const answered = next(({ source, action }) => source === 'agent' && action === 'message');
    const rested = next(isWaiting);
    socket.emit('oh_user_action', { action: 'message', args: { content } });
    await answered;
    return rested;
  };
  return { say, socket };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}
