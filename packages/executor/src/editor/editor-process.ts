import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { shellQuote } from '@tendon/protocol/executor-api';
import type { ShellTools } from '../shell/shell-tools.ts';
import { killGroup, spawnDetached } from '../shell/detached-process.ts';

/** The process of an editor that is served to a browser. */
export interface EditorProcess {
  /** Where it will listen, on loopback. */
  readonly port: number;
  /** The path of its page, with what that asks for to let somebody in. */
  readonly path: string;
  /** Resolves with its exit code, and the last of what it printed. */
  readonly ended: Promise<{ readonly code: number | null; readonly tail: string }>;
  stop(): void;
}

const EXIT_NO_EDITOR = 85;
const TAIL_CHARS = 1000;
const READY_MS = 30_000;
const RETRY_MS = 50;

/** Starts the first of the known editors that is on the shell's PATH. */
export async function spawnEditor({ detached, place }: ShellTools, workspace: string): Promise<EditorProcess> {
  const port = await freePort();
  const token = randomBytes(16).toString('hex');
  const child = spawnDetached(detached, place(), command(port, token, workspace), workspace, 'pipe');
  let tail = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (tail = (tail + text).slice(-TAIL_CHARS)));
  }
  const ended = new Promise<{ code: number | null; tail: string }>((resolve) => {
    child.on('error', (error) => resolve({ code: null, tail: error.message }));
    child.on('exit', (code) => setImmediate(() => resolve({ code, tail: tail.trim() })));
  });
  const query = new URLSearchParams({ tkn: token, folder: workspace });
  return { port, path: `/?${query.toString()}`, ended, stop: () => killGroup(child, 'SIGKILL') };
}

function command(port: number, token: string, workspace: string): string {
  const folder = shellQuote(workspace);
  return `if command -v openvscode-server >/dev/null 2>&1; then
  exec openvscode-server --host 127.0.0.1 --port ${port} --connection-token ${token} --telemetry-level off --default-folder ${folder}
elif command -v code-server >/dev/null 2>&1; then
  exec code-server --bind-addr 127.0.0.1:${port} --auth none --disable-telemetry --disable-update-check ${folder}
fi
exit ${EXIT_NO_EDITOR}`;
}

/** Free a moment ago; when another program takes it meanwhile, the editor ends and the answer says why. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

/** Resolves with nothing when it takes connections, else with the sentence why it does not; then it has been stopped. */
export async function untilAnswering(editor: EditorProcess): Promise<string | undefined> {
  const deadline = AbortSignal.timeout(READY_MS);
  let end: Awaited<EditorProcess['ended']> | undefined;
  void editor.ended.then((reason) => (end = reason));
  while (!(await takesConnections(editor.port))) {
    if (end?.code === EXIT_NO_EDITOR) {
      return 'There is no editor in this sandbox: neither openvscode-server nor code-server is on its PATH. Install one in the image, or on the machine for the local sandbox.';
    }
    if (end !== undefined) return `The editor did not start: ${end.tail || `it ended at once (exit code ${end.code})`}`;
    if (deadline.aborted) {
      editor.stop();
      return `The editor did not answer within ${READY_MS / 1000} seconds.`;
    }
    await delay(RETRY_MS);
  }
  return undefined;
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const settle = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('connect', () => settle(true)).once('error', () => settle(false));
  });
}
