import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@tendon/testing';
import { ExecutorHostProcess, type HostOptions, TendonProcess, Watcher } from '@tendon/testing/servers';
import { expect, onTestFinished } from 'vitest';
import { findProcesses } from '@tendon/runtime/testing';
import { heapBytes, inspectable } from './held-memory.ts';

/** What is fuzzed: a process, and somebody beside the attack who must not notice. */
export interface Attacked {
  readonly url: string;
  /** It lives, has logged no failure of its own, and does what it is there for. */
  expectUnharmed(): Promise<void>;
  heldBytes(): Promise<number>;
}

export interface AttackedServer extends Attacked {
  readonly tendon: TendonProcess;
  readonly bystander: Watcher;
  /** A conversation that may be hurt; another one each time that the server was found unharmed, and nothing is left of the one before. */
  victim(): string;
}

const FAILURE = /"level":"(?:error|fatal)".*|.*\b(?:uncaught|unhandled)\b.*/i;

export async function attackedServer(env: NodeJS.ProcessEnv = {}): Promise<AttackedServer> {
  const port = await freePort();
  const tendon = await TendonProcess.scripted([{ text: 'I am here', times: 10_000 }], { ...inspectable(port), ...env });
  onTestFinished(() => tendon.remove());
  const create = async () => (await tendon.json<{ conversation_id: string }>('/api/conversations', {})).conversation_id;
  const bystander = await create();
  const watcher = new Watcher(tendon.url, bystander);
  onTestFinished(() => watcher.close());
  await watcher.untilState('awaiting_user_input');
  let victim = await create();
  let asked = 0;

  async function renewVictim(): Promise<void> {
    for (let all = await tendon.conversations(); all.length > 1; all = await tendon.conversations()) {
      for (const { conversation_id: id } of all.filter((each) => each.conversation_id !== bystander)) {
        await fetch(`${tendon.url}/api/conversations/${id}`, { method: 'DELETE' });
      }
    }
    victim = await create();
  }

  return {
    tendon,
    bystander: watcher,
    url: tendon.url,
    victim: () => victim,
    async expectUnharmed() {
      await renewVictim();
      const from = watcher.lastId;
      watcher.send('message', { content: `are you still there, for the ${asked++}th time?` });
      await watcher.until(({ id, args }) => id > from && args?.content === 'I am here', 'its answer');
      const answered = watcher.lastId;
      await watcher.until(({ id, extras }) => id >= answered && extras?.agent_state === 'awaiting_user_input', 'the end of its turn');
      const failure = FAILURE.exec(tendon.output);
      if (failure) throw new Error(`the server logged: ${failure[0].slice(0, 1000)}`);
    },
    heldBytes: () => heapBytes(port),
  };
}

export async function attackedHost(options: HostOptions = {}): Promise<Attacked & { readonly host: ExecutorHostProcess }> {
  const port = await freePort();
  const host = await ExecutorHostProcess.start({ ...options, environment: { ...inspectable(port), ...options.environment } });
  onTestFinished(() => host.remove());
  return {
    host,
    url: host.url.origin,
    async expectUnharmed() {
      for (const path of ['/alive', '/server_info']) {
        const { status } = await host.call(path);
        if (status !== 200) throw new Error(`${path}: ${status}`);
      }
    },
    heldBytes: () => heapBytes(port),
  };
}

export interface AttackedSandbox extends AttackedServer {
  /** What the agent inside could reach: the sockets of its executor and of its proxy. */
  readonly executorSocket: string;
  readonly proxySocket: string;
  readonly incarnation: string;
  executorBytes(): Promise<number>;
}

/** A server whose conversation beside the attack works in a sandbox. */
export async function attackedSandbox(env: NodeJS.ProcessEnv = {}): Promise<AttackedSandbox> {
  const server = await attackedServer({ RUNTIME: 'local', ...env });
  let ran = 0;
  const run = async (): Promise<void> => {
    const word = `works ${ran++}.`;
    server.bystander.send('run', { command: `echo ${word}` });
    await server.bystander.until(({ observation, content }) => observation === 'run' && content?.includes(word) === true, word);
  };
  await run();
  const folder = folderOf(server.tendon.home);
  const incarnation = readdirSync(folder).find((name) => /^[0-9a-f]{16}$/.test(name))!;
  const executor = findProcesses(incarnation, 'cmdline').find((pid) =>
    /^[^\0]*node\0[^\0]*main\.mjs\0/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8')),
  );
  if (executor === undefined) throw new Error('the executor is not found');
  const executorSocket = join(folder, incarnation, 'link/executor.sock');
  const proxySocket = join(folder, incarnation, 'proxy/proxy.sock');
  for (const path of [executorSocket, proxySocket])
    expect(await exchange({ path }, ['GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n'])).toMatch(/^HTTP\/1\.1 4/);
  return {
    ...server,
    executorSocket,
    proxySocket,
    incarnation,
    executorBytes: () => heapBytesInside(executor),
    async expectUnharmed() {
      await server.expectUnharmed();
      await run();
    },
  };
}

const USUAL_PORT = 9229;

/** A process whose network is its own opens its inspector there when it is asked to. */
async function heapBytesInside(pid: number): Promise<number> {
  process.kill(pid, 'SIGUSR1');
  const inside = ['--target', String(pid), '--user', '--preserve-credentials', '--net'];
  const script = join(import.meta.dirname, 'print-held-memory.ts');
  const command = [...inside, process.execPath, '--conditions=tendon-source', script, String(USUAL_PORT)];
  const { stdout } = await promisify(execFile)('nsenter', command);
  return Number(stdout);
}

/** Where the server of this home has its sockets. */
function folderOf(home: string): string {
  for (const base of ['/run', process.env.XDG_RUNTIME_DIR ?? '/run', '/tmp']) {
    for (const name of readdirSync(base).filter((each) => each.startsWith('tendon-'))) {
      try {
        if (readFileSync(join(base, name, 'state-root'), 'utf8').startsWith(home)) return join(base, name);
      } catch {} // another thing of that name
    }
  }
  throw new Error(`no sockets of ${home}`);
}

/** Sends the bytes and hangs up when an answer came, the other side closed, or nothing came for a while; answers what came. */
export function exchange(
  target: { readonly path: string } | { readonly url: string },
  pieces: readonly (string | Uint8Array)[],
  stillMs = 1000,
): Promise<string> {
  return new Promise((resolve) => {
    const socket = 'path' in target ? connect(target.path) : connect(Number(new URL(target.url).port), '127.0.0.1');
    let received = '';
    socket.setTimeout(stillMs, () => socket.destroy());
    socket.on('data', (data: Buffer) => (received = (received + data.toString('latin1')).slice(0, 10_000)));
    socket.on('error', () => undefined).once('close', () => resolve(received));
    for (const piece of pieces) socket.write(piece);
  });
}
