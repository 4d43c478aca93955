import type { IncomingMessage } from 'node:http';
import type { ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { type ProcessRequest, shellQuote } from '@tendon/protocol/executor-api';
import { readFirstLine, refuseUpgrade } from '@tendon/protocol/node';
import { reasonOf } from '../action-handler.ts';
import type { ShellTools } from '../shell/shell-tools.ts';
import { signalDetached, spawnDetached } from '../shell/detached-process.ts';

const MAX_PROCESSES = 32;
const MAX_REQUEST_BYTES = 64 * 1024;
const REQUEST_MS = 10_000;
const END_MS = 2_000;
const TAIL_CHARS = 2_000;

export interface ProcessEndpoint {
  join(request: IncomingMessage, client: Duplex, head: Buffer): void;
  /** How many there are now. */
  count(): number;
}

/**
 * `GET /process` with `Upgrade: tcp`: the first line is a `ProcessRequest`, and from then on the connection is that program's input and
 * output. It ends with the connection; what it wrote to stderr last comes as one line of JSON, a `ProcessEnd`, when it ends by itself.
 */
export function createProcessEndpoint(shell: Promise<ShellTools>): ProcessEndpoint {
  let open = 0;

  async function join(client: Duplex, head: Buffer): Promise<void> {
    if (open >= MAX_PROCESSES) return refuseUpgrade(client, 503, { error: 'there are too many programs' });
    open += 1;
    client.once('close', () => (open -= 1));
    try {
      const tools = await shell;
      client.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
      client.unshift(head);
      const request = requestOf(await readFirstLine(client, { maxBytes: MAX_REQUEST_BYTES, timeoutMs: REQUEST_MS }));
      if (!client.destroyed) attach(tools, request, client);
    } catch (error) {
      client.end(endLine({ code: null, stderr: reasonOf(error) }));
    }
  }

  return {
    join(_request, client, head) {
      client.on('error', () => client.destroy());
      void join(client, head);
    },
    count: () => open,
  };
}

function attach(tools: ShellTools, { command, args, env }: ProcessRequest, client: Duplex): void {
  const detached = { ...tools.detached, env: { ...tools.detached.env, ...env } };
  const words = ['exec', shellQuote(command), ...args.map(shellQuote)].join(' ');
  const child = spawnDetached(detached, tools.place(), words, undefined, 'pipe', 'pipe');
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-TAIL_CHARS)));
  child.stdin?.on('error', () => undefined);
  child.stdout?.on('error', () => undefined).pipe(client, { end: false });
  client.pipe(child.stdin!);
  // Who has nothing more to say is given a moment for the answer; who has gone is not.
  client.once('end', () => setTimeout(() => stop(tools, child), END_MS));
  client.once('close', () => stop(tools, child));
  child.once('error', (error) => client.end(endLine({ code: null, stderr: error.message })));
  child.once('close', (code) => client.end(endLine({ code, stderr: stderr.trim() })));
}

/** It is asked to end, and made to when it does not. */
function stop({ detached }: ShellTools, child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null) return;
  signalDetached(detached, child, 'SIGTERM');
  const timer = setTimeout(() => signalDetached(detached, child, 'SIGKILL'), END_MS);
  child.once('close', () => clearTimeout(timer));
}

function endLine(end: { readonly code: number | null; readonly stderr: string }): string {
  return `\n${JSON.stringify({ process_end: end })}\n`;
}

function requestOf(line: string): ProcessRequest {
  const { command, args = [], env = {} } = JSON.parse(line) as Partial<ProcessRequest>;
  if (typeof command !== 'string' || command === '') throw new Error('no program was named');
  return { command, args: args.map(String), env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])) };
}
