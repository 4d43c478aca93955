import { once } from 'node:events';
import { createServer, request, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { exchange } from './exchange.ts';

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A server that answers everybody with these bytes, in one packet, and says no more. */
const answering = (bytes: string): Promise<number> =>
  listening(createTcpServer((socket) => void socket.on('error', () => undefined).once('data', () => socket.write(bytes))));

/** Hands requests on to that port. `failures`: what `exchange` rejected with. */
async function relayTo(port: number): Promise<{ readonly url: string; readonly failures: unknown[] }> {
  const failures: unknown[] = [];
  const relayed: RequestListener = (incoming, response) => {
    const outgoing = request({ port, host: '127.0.0.1', path: '/' });
    exchange(incoming, response, outgoing, (answer) => {
      response.writeHead(answer.statusCode ?? 502, { 'content-type': 'text/plain' });
      return true;
    }).catch((error: unknown) => {
      failures.push(error);
      response.writeHead(502).end();
    });
  };
  const server = createServer(relayed);
  onTestFinished(() => server.closeAllConnections());
  return { url: `http://127.0.0.1:${await listening(server)}`, failures };
}

const HEAD = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

it('SB620: an answer that breaks in the packet of its head ends its exchange alone', async () => {
  const { url, failures } = await relayTo(await answering(`${HEAD}zz\r\n`));
  for (let asked = 0; asked < 3; asked += 1)
    await expect(fetch(url).then((response) => response.text())).rejects.toThrow(/terminated|fetch failed/);
  expect(failures).toEqual([]);
});

it('SB620: an answer without a head is a failure that is reported', async () => {
  const { url, failures } = await relayTo(await answering('nonsense\r\n\r\n'));
  expect((await fetch(url)).status).toBe(502);
  expect(failures).toHaveLength(1);
});

it('SB620: a whole answer comes back as it was', async () => {
  const { url } = await relayTo(await answering(`${HEAD}5\r\nhello\r\n0\r\n\r\n`));
  expect(await (await fetch(url)).text()).toBe('hello');
});
