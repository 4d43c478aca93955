import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { type Runtime } from '@tendon/core';
import { Secret } from '@tendon/protocol/masking';
import { ExecutorHostProcess } from '@tendon/testing/servers';
import { createRemoteDriver } from '@tendon/runtime';
import {
  createTestSandboxes,
  executorFolder,
  never,
  NotServed,
  run,
  type SandboxPorts,
  type TestSandboxes,
  until,
} from '@tendon/runtime/testing';

const ECHO = `import socket
server = socket.socket(); server.bind(('127.0.0.1', 0)); server.listen()
print(server.getsockname()[1], file=open('port', 'w'), flush=True)
while True:
    client, _ = server.accept(); client.sendall(b'hello ' + client.recv(100)); client.close()
`;
const signal = never;

describe('what is served in a sandbox of another host', () => {
  let host: ExecutorHostProcess;
  let sandboxes: TestSandboxes;
  let runtime: Runtime;
  let ports: SandboxPorts;
  let port = 0;
  beforeAll(async () => {
    executorFolder();
    host = await ExecutorHostProcess.start();
    sandboxes = createTestSandboxes(createRemoteDriver({ url: host.url, key: new Secret(host.key) }));
    runtime = await sandboxes.runtimes.acquire('served', { signal });
    ports = sandboxes.runtimes.ports('served')!;
    await runtime.files.write('echo.py', new TextEncoder().encode(ECHO), { signal });
    port = Number((await run(runtime, '(python3 echo.py &); until test -s port; do sleep 0.05; done; cat port')).output);
  });
  afterAll(async () => {
    await sandboxes?.close();
    await host?.remove();
  });

  /** The status that an upgrade is answered with. */
  async function upgrade(path: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
    const asked = httpRequest(new URL(path, host.url), { headers: { connection: 'Upgrade', upgrade: 'tcp', ...headers } });
    asked.on('upgrade', (answer, socket: Socket) => {
      socket.destroy();
      asked.emit('response', answer);
    });
    asked.end();
    const [{ statusCode }] = (await once(asked, 'response')) as [{ readonly statusCode?: number }];
    asked.destroy();
    return statusCode;
  }

  it('SB111: is found, and a connection leads to it', async () => {
    await until('it is found', async () => (await ports.list({ signal })).some((each) => each.port === port));
    const socket = await ports.connect(port, { signal });
    socket.write('there');
    expect(await text(socket)).toBe('hello there');
  });

  itInFull('SV139: a program is spoken to over its input and output', async () => {
    const program = await ports.openProcess({ signal });
    program.write(`${JSON.stringify({ command: 'sh', args: ['-c', 'read -r line; echo "heard $line"'] })}\nhello\n`);
    expect(await text(program)).toMatch(/^heard hello\n/);
  });

  itInFull('SV972: a person’s own shell is a terminal there', async () => {
    const shell = await ports.openShell({ signal });
    shell.write('{"columns":90,"rows":20,"input":"stty size; exit 4\\n"}\n');
    const lines = (await text(shell)).trim().split('\n');
    expect(lines.join()).toContain('20 90');
    expect(JSON.parse(lines.at(-1)!)).toEqual({ ended: { code: 4 } });
  });

  it('SB112: a port that nobody serves is reported as such', async () => {
    await expect(ports.connect(1, { signal })).rejects.toThrow(NotServed);
  });

  it('SB129: a tunnel asks for the key, and comes from no page', async () => {
    const path = `/sandboxes/${runtime.incarnation}/tunnel/${port}`;
    const key = { 'x-session-api-key': host.key };
    expect(await upgrade(path, key)).toBe(101);
    expect(await upgrade(path, {})).toBe(401);
    expect(await upgrade(path, { ...key, origin: 'http://localhost:3000' })).toBe(403);
    expect(await upgrade(`${path}?x`, key)).toBe(404);
    expect(await upgrade(path, { ...key, upgrade: 'websocket' })).toBe(404);
    expect(await upgrade(`/sandboxes/${'0'.repeat(16)}/tunnel/${port}`, key)).toBe(410);
    expect(await upgrade('/server_info', key)).toBe(404);
  });

  it('SB114: a sandbox that ends takes its tunnels along', async () => {
    const socket = await ports.connect(port, { signal });
    const closed = once(
      socket.on('error', () => undefined),
      'close',
    );
    await sandboxes.runtimes.stop('served');
    await closed;
    expect(socket.destroyed).toBe(true);
  });
});
