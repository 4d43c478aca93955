import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { readLines, refuseUpgrade } from '@tendon/protocol/node';
import type { ShellInput, ShellOutput, ShellSize } from '@tendon/protocol/executor-api';
import { reasonOf } from '../action-handler.ts';
import type { OwnShell } from '../shell/own-shell.ts';
import type { AgentShell } from '../shell/take-over.ts';
import type { ShellTools } from '../shell/shell-tools.ts';
import type { ProcessEndpoint } from './process-endpoint.ts';

const MAX_SHELLS = 8;
const LIMITS = { maxLine: 256 * 1024, maxTotal: Number.MAX_SAFE_INTEGER };
const MAX_SIZE = 1000;

type Shells = Pick<ShellTools, 'openOwn' | 'openAgents'>;

/**
 * `GET /shell` with `Upgrade: tcp`: lines of `ShellInput` lead to a person's own shell, and lines of `ShellOutput` come from it. It ends
 * with the connection. `GET /agent-shell`: the same with the agent's own that a person has taken over, which goes on afterwards.
 */
export function createShellEndpoint(shell: Promise<Shells>): ProcessEndpoint {
  let open = 0;

  async function join(client: Duplex, head: Buffer, kind: keyof Shells): Promise<void> {
    if (open >= MAX_SHELLS) return refuseUpgrade(client, 503, { error: `there are ${MAX_SHELLS} shells already: close one` });
    open += 1;
    client.once('close', () => (open -= 1));
    client.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
    client.unshift(head);
    try {
      const tools = await shell;
      await converse((options) => tools[kind](options), client);
    } catch (error) {
      send(client, { ended: { code: null, reason: reasonOf(error) } });
    }
    client.end();
  }

  return {
    join(request: IncomingMessage, client, head) {
      client.on('error', () => client.destroy());
      void join(client, head, request.url === '/agent-shell' ? 'openAgents' : 'openOwn');
    },
    count: () => open,
  };
}

type Open = (options: Parameters<Shells['openOwn']>[0]) => OwnShell | Promise<AgentShell>;

async function converse(open: Open, client: Duplex): Promise<void> {
  let shell: (OwnShell & Partial<AgentShell>) | undefined;
  try {
    for await (const line of readLines(client, LIMITS)) {
      const { input, columns, rows, giveBack } = JSON.parse(line) as ShellInput;
      const size = sizeOf(columns, rows);
      if (shell === undefined && !size) throw new Error('the first line gives the size of the terminal');
      if (size) shell?.resize(size);
      shell ??= await opened(open, client, size!);
      if (typeof input === 'string') shell.type(input);
      if (giveBack === true) shell.giveBack?.();
    }
  } finally {
    shell?.close();
  }
}

async function opened(open: Open, client: Duplex, size: ShellSize): Promise<OwnShell> {
  let shell: OwnShell | undefined;
  shell = await open({
    size,
    onOutput(output) {
      if (send(client, { output })) return;
      shell?.pause();
      client.once('drain', () => shell?.resume());
    },
    onEnd(code, reason) {
      send(client, { ended: { code, ...(reason !== undefined && { reason }) } });
      client.end();
    },
  });
  return shell;
}

function send(client: Duplex, line: ShellOutput): boolean {
  return client.writable ? client.write(`${JSON.stringify(line)}\n`) : true;
}

function sizeOf(columns: unknown, rows: unknown): ShellSize | undefined {
  const isSize = (value: unknown): value is number => Number.isInteger(value) && (value as number) > 0 && (value as number) <= MAX_SIZE;
  return isSize(columns) && isSize(rows) ? { columns, rows } : undefined;
}
