import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { readLines, refuseUpgrade } from '@tendon/protocol/node';
import type { ShellInput, ShellOutput, ShellSize } from '@tendon/protocol/executor-api';
import { reasonOf } from '../action-handler.ts';
import type { OwnShell } from '../shell/own-shell.ts';
import type { ShellTools } from '../shell/shell-tools.ts';
import type { ProcessEndpoint } from './process-endpoint.ts';

const MAX_SHELLS = 8;
const LIMITS = { maxLine: 256 * 1024, maxTotal: Number.MAX_SAFE_INTEGER };
const MAX_SIZE = 1000;

/** `GET /shell` with `Upgrade: tcp`: lines of `ShellInput` lead to a person's own shell, and lines of `ShellOutput` come from it. It ends with the connection. */
export function createShellEndpoint(shell: Promise<Pick<ShellTools, 'openOwn'>>): ProcessEndpoint {
  let open = 0;

  async function join(client: Duplex, head: Buffer): Promise<void> {
    if (open >= MAX_SHELLS) return refuseUpgrade(client, 503, { error: `there are ${MAX_SHELLS} shells already: close one` });
    open += 1;
    client.once('close', () => (open -= 1));
    client.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
    client.unshift(head);
    try {
      await converse(await shell, client);
    } catch (error) {
      send(client, { ended: { code: null, reason: reasonOf(error) } });
    }
    client.end();
  }

  return {
    join(_request: IncomingMessage, client, head) {
      client.on('error', () => client.destroy());
      void join(client, head);
    },
    count: () => open,
  };
}

async function converse(tools: Pick<ShellTools, 'openOwn'>, client: Duplex): Promise<void> {
  let own: OwnShell | undefined;
  try {
    for await (const line of readLines(client, LIMITS)) {
      const { input, columns, rows } = JSON.parse(line) as ShellInput;
      const size = sizeOf(columns, rows);
      if (own === undefined && !size) throw new Error('the first line gives the size of the terminal');
      if (size) own?.resize(size);
      own ??= opened(tools, client, size!);
      if (typeof input === 'string') own.type(input);
    }
  } finally {
    own?.close();
  }
}

function opened(tools: Pick<ShellTools, 'openOwn'>, client: Duplex, size: ShellSize): OwnShell {
  const own = tools.openOwn({
    size,
    onOutput(output) {
      if (send(client, { output })) return;
      own.pause();
      client.once('drain', () => own.resume());
    },
    onEnd(code, reason) {
      send(client, { ended: { code, ...(reason !== undefined && { reason }) } });
      client.end();
    },
  });
  return own;
}

function send(client: Duplex, line: ShellOutput): boolean {
  return client.writable ? client.write(`${JSON.stringify(line)}\n`) : true;
}

function sizeOf(columns: unknown, rows: unknown): ShellSize | undefined {
  const isSize = (value: unknown): value is number => Number.isInteger(value) && (value as number) > 0 && (value as number) <= MAX_SIZE;
  return isSize(columns) && isSize(rows) ? { columns, rows } : undefined;
}
