import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Seen, waitFor } from '@tendon/testing';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { clientAddress } from '../platform/http/client-of.ts';
import { TestCluster, testNode, type TestNode } from './cluster.test-support.ts';

/** A server whose sockets say who it is and repeat what they hear. */
async function echoNode(cluster: TestCluster, id: string): Promise<TestNode & { readonly sockets: WebSocketServer }> {
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const node = await testNode(cluster, {
    id,
    behind: (_request, response) => void response.writeHead(418).end(id),
    upgrade: (request, socket, head) => {
      if (request.url?.includes('refused')) return void socket.end('HTTP/1.1 403 Forbidden\r\nX-Own: 1\r\nContent-Length: 2\r\n\r\nno');
      sockets.handleUpgrade(request, socket, head, (opened) => {
        opened.send(JSON.stringify({ by: id, client: clientAddress(request), url: request.url }));
        opened.on('message', (data, isBinary) => opened.send(data, { binary: isBinary }));
      });
    },
  });
  return { ...node, sockets };
}

async function pair() {
  const cluster = new TestCluster();
  const [near, far] = [await echoNode(cluster, 'near'), await echoNode(cluster, 'far')];
  cluster.owners.set('c1', 'far');
  return { cluster, near, far };
}

async function open(node: TestNode, path: string) {
  const socket = new WebSocket(`${node.url.replace('http', 'ws')}${path}`);
  onTestFinished(() => socket.terminate());
  const heard = new Seen<string>();
  socket.on('message', (data: Buffer) => heard.take(data.toString()));
  const closed = once(socket, 'close') as Promise<[number, Buffer]>;
  await waitFor(once(socket, 'open'), () => `a socket at ${path}`);
  return { socket, heard, closed };
}

it('SV1210: a socket that names a conversation of another server is that one’s, byte for byte both ways', async () => {
  const { near } = await pair();
  for (const path of ['/ws?conversation_id=c1', '/shell?conversation_id=c1', '/socket.io/?EIO=4&transport=websocket&conversation_id=c1']) {
    const { socket, heard } = await open(near, path);
    expect(JSON.parse(await heard.until(() => true, 'who it is'))).toEqual({ by: 'far', client: '127.0.0.1', url: path });
    const long = 'x'.repeat(300_000);
    socket.send(long);
    expect(await heard.until((message) => message.length > 1_000, 'the echo')).toBe(long);
    socket.close(4_000, 'enough');
  }
  const { heard } = await open(near, '/ws');
  expect(JSON.parse(await heard.until(() => true, 'who it is'))).toMatchObject({ by: 'near' });
});

it('SV1210: what the other server says to an upgrade that it refuses reaches the client', async () => {
  const { near } = await pair();
  const asked = httpRequest({
    port: near.port,
    host: '127.0.0.1',
    path: '/ws?conversation_id=c1&refused',
    headers: { connection: 'Upgrade', upgrade: 'websocket' },
  }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  expect([answer.statusCode, answer.headers['x-own'], await text(answer)]).toEqual([403, '1', 'no']);
});

it('SV1211: a socket whose server is gone ends with 1012, between two frames', async () => {
  const { cluster, near, far } = await pair();
  const { closed } = await open(near, '/ws?conversation_id=c1');
  const { closed: other } = await open(near, '/ws?conversation_id=c1');
  far.die();
  expect((await waitFor(closed, () => 'the end of the socket'))[0]).toBe(1012);
  expect((await other)[0]).toBe(1012);
  expect(cluster.nodes.has('far')).toBe(true);
});

it('SV1211: a socket whose server is frozen, and then alive no more, ends with 1012 too', async () => {
  const { cluster, near } = await pair();
  const { closed } = await open(near, '/ws?conversation_id=c1');
  cluster.nodes.delete('far');
  expect((await waitFor(closed, () => 'the end of the socket'))[0]).toBe(1012);
});

it('SV1211: the other server’s own closing frame is the one that the client is sent, and the client’s reaches it', async () => {
  const { near, far } = await pair();
  const { closed } = await open(near, '/ws?conversation_id=c1');
  for (const socket of far.sockets.clients) socket.close(1008, 'over');
  expect((await waitFor(closed, () => 'the end of the socket'))[0]).toBe(1008);
  const { socket } = await open(near, '/ws?conversation_id=c1');
  const [theirs] = far.sockets.clients;
  socket.close(4_001);
  const [code] = (await waitFor(once(theirs!, 'close'), () => 'the end at the owner')) as [number];
  expect(code).toBe(4_001);
});

it('SV1211: when the client is cut off, so is the connection to the other server', async () => {
  const { near, far } = await pair();
  const { socket } = await open(near, '/ws?conversation_id=c1');
  const [theirs] = far.sockets.clients;
  socket.terminate();
  const [code] = (await waitFor(once(theirs!, 'close'), () => 'the end at the owner')) as [number];
  expect(code).toBe(1006);
});

it('SV1211: a server that cannot be reached refuses the upgrade with 503, and the next owner is found', async () => {
  const { cluster, near, far } = await pair();
  far.die();
  const opening = open(near, '/ws?conversation_id=c1');
  cluster.owners.set('c1', 'near');
  const { heard } = await opening;
  expect(JSON.parse(await heard.until(() => true, 'who it is'))).toMatchObject({ by: 'near' });
});

it('SV1212: a session of Socket.IO is asked for at the server that its id names', async () => {
  const { near } = await pair();
  const answer = async (sid: string): Promise<string> =>
    (await fetch(`${near.url}/socket.io/?EIO=4&transport=polling&sid=${encodeURIComponent(sid)}&conversation_id=c1`)).text();
  expect(await answer('abc~near')).toBe('near');
  expect(await answer('abc~far')).toBe('far');
  expect(await answer('abc~gone')).toBe('near');
  expect(await answer('abc')).toBe('far');
});
