import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itInFull, someOf } from '@tendon/testing';
import type { Runtime } from '@tendon/core';
import { createLocalDriver } from '../drivers/local/local-driver.ts';
import { createNoneDriver } from '../drivers/none/none-driver.ts';
import type { SandboxPorts } from './sandbox-ports.ts';
import { createTestSandboxes, executorFolder, never, run, until, type TestSandboxes } from '../testing/sandboxes.ts';

const DRIVERS = { local: createLocalDriver, none: createNoneDriver } as const;
const signal = never;

describe.each(someOf(['local', 'none'] as const, ['local']))('ports of a sandbox, driver %s', (name) => {
  let sandboxes: TestSandboxes;
  let runtime: Runtime;
  let ports: SandboxPorts;
  const host = createServer((socket) => socket.end('the host answers'));
  beforeAll(async () => {
    await once(host.listen(0, '127.0.0.1'), 'listening');
    sandboxes = createTestSandboxes(DRIVERS[name]({ executor: executorFolder() }));
    runtime = await sandboxes.runtimes.acquire('served', { signal });
    ports = sandboxes.runtimes.ports('served')!;
  });
  afterAll(async () => {
    await sandboxes.close();
    host.close();
  });

  /** Serves one answer after the other on a port that was free, and resolves with it when it is found. */
  async function serve(answer: string, bind = '127.0.0.1'): Promise<number> {
    const family = bind.includes(':') ? 'socket.AF_INET6' : 'socket.AF_INET';
    const code = `import socket, sys
server = socket.socket(${family}); server.bind(("${bind}", 0)); server.listen()
print(server.getsockname()[1], file=open("port", "w"), flush=True)
while True:
    client, _ = server.accept(); client.sendall(b"${answer}" + client.recv(100)); client.close()`;
    await runtime.files.write('serve.py', new TextEncoder().encode(code), { signal });
    await run(runtime, 'rm -f port; (setsid python3 serve.py >/dev/null 2>&1 &); until test -s port; do sleep 0.05; done');
    return Number((await run(runtime, 'cat port')).output);
  }
  const answerOf = async (port: number): Promise<string> => {
    const socket = await ports.connect(port, { signal });
    socket.write('!');
    return text(socket);
  };

  it('SB110: what a program serves is found with its name, also one that has left its parent', async () => {
    const port = await serve('found');
    await until('it is found', async () => (await ports.list({ signal })).some((each) => each.port === port));
    expect((await ports.list({ signal })).find((each) => each.port === port)?.program).toMatch(/python/);
  });

  it.each(someOf(['0.0.0.0', '127.0.0.3', '::', '::1'], 2))('SB111: a connection leads to it, bound to %s', async (bind) => {
    const port = await serve('hello', bind);
    expect(await answerOf(port)).toBe('hello!');
  });

  itInFull('SV139: a program is spoken to over its input and output, sees what is its own, and ends with the connection', async () => {
    const program = await ports.openProcess({ signal });
    const script = 'echo "$MARK $1 $PWD"; echo $$ > spoken.pid; read -r line; echo "heard $line"; sleep 1000';
    program.write(`${JSON.stringify({ command: 'sh', args: ['-c', script, 'sh', "it's"], env: { MARK: 'marked' } })}\nhello\n`);
    let heard = '';
    program.on('data', (data: Buffer) => (heard += data.toString()));
    await until('it has heard', async () => heard.includes('heard hello'));
    expect(heard).toMatch(/^marked it's \/\S+\n/);
    program.destroy();
    await until('it is gone', async () =>
      (await run(runtime, 'kill -0 "$(cat spoken.pid)" 2>/dev/null || echo gone')).output.includes('gone'),
    );
  });

  it('SV139: what ended says how', async () => {
    const program = await ports.openProcess({ signal });
    program.write(`${JSON.stringify({ command: 'sh', args: ['-c', 'echo no database >&2; exit 3'] })}\n`);
    const end = JSON.parse((await text(program)).trim()) as unknown;
    expect(end).toEqual({ process_end: { code: 3, stderr: 'no database' } });
    const none = await ports.openProcess({ signal });
    none.write('not json\n');
    expect(await text(none)).toContain('process_end');
  });

  it('SB112: a port of the host is neither found nor reached', async () => {
    const { port } = host.address() as AddressInfo;
    expect((await ports.list({ signal })).map((each) => each.port)).not.toContain(port);
    await expect(ports.connect(port, { signal })).rejects.toMatchObject({ name: 'NotServed' });
  });

  it('SB112: where nothing listens is reported', async () => {
    await expect(ports.connect(9, { signal })).rejects.toThrow(/nothing listens on port 9/);
  });

  it('SB113: who follows hears of each change', async () => {
    const stop = new AbortController();
    const heard: string[] = [];
    const following = (async () => {
      for await (const list of ports.follow({ signal: stop.signal })) heard.push(list.map(({ port }) => port).join());
    })();
    await until('the list is reported', () => heard.length > 0);
    const port = await serve('latest');
    await until('the new one is reported', () => heard.at(-1)!.includes(String(port)));
    await run(runtime, `kill $(ss -Hltnp "sport = :${port}" 2>/dev/null | grep -o 'pid=[0-9]*' | cut -d= -f2) || pkill -f serve.py`);
    await until('its end is reported', () => !heard.at(-1)!.includes(String(port)));
    await until('its end is reported', () => !heard.at(-1)!.includes(String(port)));
    stop.abort();
    await following;
    expect(heard.filter((list) => list.includes(String(port)))).toHaveLength(1);
  });

  itInFull('SB113: a program that leaves one port for another is heard of, though as many listen as before', async () => {
    const stop = new AbortController();
    let heard: readonly number[] = [];
    const following = (async () => {
      for await (const list of ports.follow({ signal: stop.signal })) heard = list.map(({ port }) => port);
    })();
    const code = `import os, socket, time
def serve(name):
    server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen()
    print(server.getsockname()[1], file=open(name, "w"), flush=True)
    return server
first = serve("first")
while not os.path.exists("move"): time.sleep(0.05)
first.close(); second = serve("second")
time.sleep(600)`;
    await runtime.files.write('moves.py', new TextEncoder().encode(code), { signal });
    const portIn = async (file: string): Promise<number> =>
      Number((await run(runtime, `until test -s ${file}; do sleep 0.05; done; cat ${file}`)).output);
    await run(runtime, '(setsid python3 moves.py >/dev/null 2>&1 &)');
    const first = await portIn('first');
    await until('the first port is reported', () => heard.includes(first));
    await run(runtime, 'touch move');
    const second = await portIn('second');
    await until('the second is reported', () => heard.includes(second));
    expect(heard).not.toContain(first);
    stop.abort();
    await following;
  });

  it('RT180: a sandbox has the plugins that are configured for all', async () => {
    const bare = createTestSandboxes(DRIVERS[name]({ executor: executorFolder() }), { plugins: ['jupyter'] });
    try {
      await bare.runtimes.acquire('bare', { signal });
      const started = await bare.runtimes.ports('bare')!.startPlugin('vscode');
      expect(started).toEqual({ ok: false, reason: expect.stringContaining('does not have the plugin "vscode"') });
    } finally {
      await bare.close();
    }
  });

  it('SB114: a sandbox that is killed ends its connections', async () => {
    const port = await serve('last');
    const socket = await ports.connect(port, { signal });
    const closed = once(socket, 'close');
    await sandboxes.runtimes.stop('served');
    await closed;
    expect(sandboxes.runtimes.ports('served')).toBeUndefined();
  });
});
