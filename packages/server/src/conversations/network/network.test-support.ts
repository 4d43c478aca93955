import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { socketIoClient, testServer, type TestOptions, type TestServer } from '../../server.test-support.ts';

/** What a command that a client runs in the conversation's sandbox prints. */
export async function runIn(server: TestServer, id: string, command: string): Promise<string> {
  const client = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
  try {
    client.send({ action: 'run', args: { command } });
    const observation = await client.frames.until(
      (frame) => frame.observation === 'run' && frame.extras?.command === command,
      `the observation of ${command}`,
    );
    return String(observation.content);
  } finally {
    client.socket.close();
  }
}

/** Variables under which every name leads to a site of this machine that says `reached <name>`: no test needs the internet. */
export async function internetOfThisMachine(): Promise<Readonly<Record<string, string>>> {
  const site = createServer((request, response) => response.end(`reached ${request.headers.host}`));
  await once(site.listen(0, '127.0.0.1'), 'listening');
  const { port } = site.address() as AddressInfo;
  const proxy = createServer().on('connect', (_request, client) => {
    const socket = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.pipe(socket).pipe(client);
    });
    for (const end of [client, socket]) end.on('error', () => end.destroy());
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void [site, proxy].map((server) => server.close()));
  return { HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, SANDBOX_PROXY_RESOLVES: '1' };
}

/** Its sandboxes ask for what is on no list; by default nothing waits for the answer. */
export async function askingServer(options: TestOptions = {}): Promise<TestServer> {
  const env = { RUNTIME: 'local', SANDBOX_NETWORK: 'allowlist', ...(await internetOfThisMachine()), ...options.env };
  return testServer({ questionWaitMs: 0, ...options, env });
}

/** As a program of the sandbox connects, without the sandbox; `reached`, or why not. */
export async function connectAs(server: TestServer, id: string, host: string, port = 443): Promise<string> {
  try {
    (await server.engine.runtimes.dialAs(id)(host, port, AbortSignal.timeout(20_000))).destroy();
    return 'reached';
  } catch (error) {
    return (error as Error).message;
  }
}
