import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { Secret } from '@tendon/protocol/masking';
import { waitFor } from '@tendon/testing';
import { expect, it } from 'vitest';
import { clientAddress, hopOf } from '../platform/http/client-of.ts';
import { systemClock } from '../platform/system-clock.ts';
import { createPreviewKeys } from '../previews/preview-keys.ts';
import { CLUSTER_SECRET, TestCluster, testNode, type TestNode } from './cluster.test-support.ts';
import { HOP_HEADER, HopSignature } from './hop-signature.ts';
import { questionPath } from './peer-answers.ts';

const PATH = '/api/conversations/c1/events';

interface Heard {
  readonly by: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly client: string;
  readonly from: string | undefined;
  readonly bytes: number;
  readonly digest: string;
}

/** Answers what it was asked, and says who it is. */
function echo(by: string) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request).catch(() => Buffer.alloc(0));
    const heard = {
      by,
      method: request.method,
      url: request.url,
      headers: request.headers,
      client: clientAddress(request),
      from: hopOf(request)?.from,
      bytes: body.length,
      digest: createHash('sha256').update(body).digest('hex'),
    };
    response.writeHead(200, { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] }).end(JSON.stringify(heard));
  };
}

async function pair(env: Readonly<Record<string, string>> = {}) {
  const cluster = new TestCluster();
  const [near, far] = [
    await testNode(cluster, { id: 'near', behind: echo('near'), env }),
    await testNode(cluster, { id: 'far', behind: echo('far'), env }),
  ];
  cluster.owners.set('c1', 'far');
  return { cluster, near, far };
}

async function ask(node: TestNode, path: string, init?: RequestInit): Promise<Heard> {
  return (await (await fetch(node.url + path, init)).json()) as Heard;
}

it('SV1200: a request about a conversation of another server is answered by that one, whole, and others by the server that is asked', async () => {
  const { near } = await pair();
  const body = randomBytes(3_000_000);
  const heard = await ask(near, `${PATH}?x=%20y`, { method: 'POST', body, headers: { 'content-type': 'x/y', 'x-own': 'own' } });
  expect(heard).toMatchObject({ by: 'far', method: 'POST', url: `${PATH}?x=%20y`, bytes: body.length, from: 'near' });
  expect(heard.digest).toBe(createHash('sha256').update(body).digest('hex'));
  expect(heard.headers).toMatchObject({ host: near.url.slice(7), 'x-own': 'own', 'content-length': String(body.length) });
  expect(heard.headers[HOP_HEADER]).toBeUndefined();
  expect(await ask(near, '/api/settings')).toMatchObject({ by: 'near' });
  expect(await ask(near, '/api/conversations/unknown')).toMatchObject({ by: 'near' });
});

it('SV1200: an answer keeps its status, its headers and each of its cookies', async () => {
  const { near } = await pair();
  const answer = await fetch(near.url + PATH);
  expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(await (await fetch(near.url + PATH, { method: 'HEAD' })).text()).toBe('');
});

it('SV1200: a body of unknown length goes on as it came, and one without a body announces none', async () => {
  const { near } = await pair();
  const stream = new ReadableStream({
    start(to) {
      for (let at = 0; at < 50; at += 1) to.enqueue(new Uint8Array(10_000));
      to.close();
    },
  });
  expect(await ask(near, PATH, { method: 'POST', body: stream, duplex: 'half' } as RequestInit)).toMatchObject({
    by: 'far',
    bytes: 500_000,
  });
  const bare = await ask(near, `${PATH}/stop`, { method: 'POST' });
  expect(bare.headers).toMatchObject({ 'content-length': '0' });
  expect(bare.headers['transfer-encoding']).toBeUndefined();
});

it('SV1200: a body that is refused unread is answered as it is, however long, and a client may wait until it is asked for it', async () => {
  const { cluster, near } = await pair();
  const taken: number[] = [];
  const strict = await testNode(cluster, {
    id: 'strict',
    behind: (request, response) => {
      if (request.url?.endsWith('long')) return void response.writeHead(413).end('too long');
      request.on('data', (chunk: Buffer) => taken.push(chunk.length)).once('end', () => response.end('taken'));
    },
  });
  cluster.owners.set('c3', strict.id);
  const long = await fetch(`${near.url}/api/conversations/c3/long`, { method: 'POST', body: Buffer.alloc(60_000_000) });
  expect([long.status, await long.text()]).toEqual([413, 'too long']);
  const asked = httpRequest({
    host: '127.0.0.1',
    port: near.port,
    path: '/api/conversations/c3/x',
    method: 'POST',
    headers: { host: 'localhost', expect: '100-continue', 'content-length': 5 },
  });
  const answer = once(asked, 'response') as Promise<[IncomingMessage]>;
  await waitFor(once(asked, 'continue'), () => 'leave to send the body');
  asked.end('words');
  expect(await text((await answer)[0])).toBe('taken');
  expect(taken).toEqual([5]);
});

it('SV1201: a server that does not have the conversation says whose it is, and the request is sent there once, with its body', async () => {
  const { cluster, near, far } = await pair();
  const third = await testNode(cluster, { id: 'third', behind: echo('third') });
  cluster.owners.set('c1', 'third');
  cluster.beliefs.set('near c1', 'far');
  expect(await ask(near, PATH, { method: 'POST', body: 'words' })).toMatchObject({ by: 'third', bytes: 5 });
  expect([far.seen.length, third.seen.length]).toEqual([0, 1]);
});

it('SV1201: a request that was passed on is not passed on again', async () => {
  const { cluster, near, far } = await pair();
  cluster.owners.set('c1', 'near');
  const url = new URL(PATH, far.url);
  const sign = new HopSignature(new Secret(CLUSTER_SECRET));
  const headers = { host: 'localhost', [HOP_HEADER]: '' };
  headers[HOP_HEADER] = sign.sign({ method: 'GET', url: PATH, headers }, { from: 'third', client: '192.0.2.9' }, Date.now());
  const asked = httpRequest({ host: '127.0.0.1', port: url.port, path: PATH, headers }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  expect(answer.statusCode).toBe(421);
  expect(answer.headers['x-tendon-owner']).toBe('near');
  expect(JSON.parse(await text(answer))).toMatchObject({ message: 'Another server has this conversation.' });
  expect([near.seen.length, far.seen.length]).toEqual([0, 0]);
});

it('SV1202: what changes something is answered 503 when its server is gone, what only reads waits for the next owner', async () => {
  const { cluster, near, far } = await pair();
  far.die();
  const post = await fetch(near.url + PATH, { method: 'POST', body: '{}' });
  expect(post.status).toBe(503);
  expect(post.headers.get('retry-after')).toBe('2');
  const reading = ask(near, PATH);
  cluster.owners.set('c1', 'near');
  expect(await reading).toMatchObject({ by: 'near' });
});

it('SV1202: a request whose server is frozen, and then alive no more, does not wait for it', async () => {
  const { cluster, near, far } = await pair();
  far.http.removeAllListeners('request');
  const connected = new Promise<void>((resolve) => {
    let count = 0;
    far.http.on('connection', () => (count += 1) === 2 && resolve());
  });
  const reading = ask(near, PATH);
  const writing = fetch(near.url + PATH, { method: 'POST' });
  await waitFor(connected, () => 'two connections to the server that is frozen');
  cluster.owners.set('c1', 'near');
  cluster.nodes.delete('far');
  expect(await waitFor(reading, () => 'an answer of the next owner')).toMatchObject({ by: 'near' });
  expect((await waitFor(writing, () => 'an answer to what changes something')).status).toBe(503);
});

it('SV1203: when the client goes, so does the request to the other server, and the other way round', async () => {
  const { cluster, near } = await pair();
  const began = Promise.withResolvers<IncomingMessage>();
  const slow = await testNode(cluster, {
    id: 'slow',
    behind: (request, response) => {
      response.writeHead(200).write('a beginning');
      if (request.url?.endsWith('cut')) setImmediate(() => response.destroy());
      began.resolve(request);
    },
  });
  cluster.owners.set('c2', slow.id);
  const abort = new AbortController();
  const answer = await fetch(`${near.url}/api/conversations/c2/x`, { signal: abort.signal });
  const request = await began.promise;
  abort.abort();
  await waitFor(once(request.socket, 'close'), () => 'the end of the passed request');
  await expect(answer.text()).rejects.toThrow('aborted');
  await expect(fetch(`${near.url}/api/conversations/c2/cut`).then((cut) => cut.text())).rejects.toThrow('terminated');
});

it('SV1204: who shows no key that opens something is refused by the server that is asked', async () => {
  const { near, far } = await pair({ SESSION_API_KEY: 'a-key-of-this-cluster' });
  expect(await ask(near, PATH)).toMatchObject({ by: 'near' });
  expect(await ask(near, PATH, { headers: { 'x-session-api-key': 'a-key-that-is-wrong' } })).toMatchObject({ by: 'near' });
  expect(far.seen).toHaveLength(0);
  const heard = await ask(near, PATH, { headers: { 'x-session-api-key': 'a-key-of-this-cluster' } });
  expect(heard).toMatchObject({ by: 'far', client: '127.0.0.1' });
  expect(heard.headers['x-session-api-key']).toBe('a-key-of-this-cluster');
});

it('SV1204: a Host that is not allowed is not passed on', async () => {
  const { near, far } = await pair();
  const asked = httpRequest({ host: '127.0.0.1', port: near.port, path: PATH, headers: { host: 'evil.example' } }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  expect(JSON.parse(await text(answer))).toMatchObject({ by: 'near' });
  expect(far.seen).toHaveLength(0);
});

it('SV1205: a header that no server of the cluster signed is removed, and says nothing', async () => {
  const { near, far } = await pair();
  const other = new HopSignature(new Secret('the secret of another cluster'));
  const headers = { host: 'localhost', [HOP_HEADER]: '' };
  headers[HOP_HEADER] = other.sign({ method: 'GET', url: '/x', headers }, { from: 'far', client: '192.0.2.9' }, Date.now());
  const heard = await new Promise<Heard>((resolve, reject) => {
    const asked = httpRequest({ host: '127.0.0.1', port: near.port, path: '/x', headers }, (answer) => {
      void text(answer).then((body) => resolve(JSON.parse(body) as Heard), reject);
    });
    asked.on('error', reject).end();
  });
  expect(heard).toMatchObject({ by: 'near', client: '127.0.0.1' });
  // Over `/x` nothing looks at it, and what is behind never sees it where it is looked at.
  const passed = await ask(near, PATH, { headers: { [HOP_HEADER]: headers[HOP_HEADER] } });
  expect(passed).toMatchObject({ by: 'far', client: '127.0.0.1', from: 'near' });
  expect(far.seen.at(-1)?.rawHeaders.map((name) => name.toLowerCase())).not.toContain(HOP_HEADER);
});

it('SV1205: a Connection header takes nothing away that says whose the request is or where its body ends', async () => {
  const { near, far } = await pair();
  const body = `GET ${PATH}?x=smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  for (const method of ['GET', 'POST']) {
    const headers = { host: 'localhost', origin: 'http://localhost', connection: 'host, origin, content-length, x-own', 'x-own': 'own' };
    const asked = httpRequest({
      host: '127.0.0.1',
      port: near.port,
      path: PATH,
      method,
      headers: { ...headers, 'content-length': body.length },
    });
    const answer = once(asked, 'response') as Promise<[IncomingMessage]>;
    asked.end(body);
    const heard = JSON.parse(await text((await answer)[0])) as Heard;
    expect(heard).toMatchObject({ by: 'far', from: 'near', bytes: body.length });
    expect(heard.headers).toMatchObject({ host: 'localhost', origin: 'http://localhost' });
    expect(heard.headers['x-own']).toBeUndefined();
  }
  await ask(near, PATH);
  expect(far.seen.map(({ url }) => url)).toEqual([PATH, PATH, PATH]);
});

it('SV1222: a preview passes no question of servers on as one', async () => {
  const { near } = await pair();
  const keys = createPreviewKeys(new Secret(CLUSTER_SECRET), systemClock);
  const body = '{"ids":["c1"]}';
  const path = questionPath('conversations/views', body);
  const headers = {
    host: `8080-${keys.labelOf('c1')}.localhost`,
    cookie: `tendon_preview=${keys.tokenFor('c1', 8080)}`,
    'content-length': body.length,
  };
  const asked = httpRequest({ host: '127.0.0.1', port: near.port, path, method: 'POST', headers });
  const answer = once(asked, 'response') as Promise<[IncomingMessage]>;
  asked.end(body);
  expect(JSON.parse(await text((await answer)[0]))).toMatchObject({ by: 'far', from: 'near', url: path, bytes: body.length });
});

it('SV1206: what begins a conversation goes to a server that takes some, and repeated requests with one key to the same', async () => {
  const cluster = new TestCluster();
  const gateway = await testNode(cluster, { id: 'gateway', behind: echo('gateway'), takesConversations: false });
  const post = (key?: string): Promise<Response> =>
    fetch(`${gateway.url}/api/conversations`, { method: 'POST', body: '{}', headers: key === undefined ? {} : { 'idempotency-key': key } });
  const waiting = post();
  const by = async (answer: Promise<Response>): Promise<string> => ((await (await answer).json()) as Heard).by;
  await testNode(cluster, { id: 'one', behind: echo('one') });
  expect(await by(waiting)).toBe('one');
  await testNode(cluster, { id: 'two', behind: echo('two') });
  expect([await by(post()), await by(post()), await by(post())]).toContain('two');
  const repeated = [await by(post('k')), await by(post('k')), await by(post('k'))];
  expect(new Set(repeated).size).toBe(1);
});

it('SV1203: a client that leaves in the midst of its body takes the passed request along', async () => {
  const { cluster, near } = await pair();
  const began = Promise.withResolvers<IncomingMessage>();
  const taker = await testNode(cluster, { id: 'taker', behind: (request) => began.resolve(request.resume()) });
  cluster.owners.set('c1', taker.id);
  const socket = connect(near.port, '127.0.0.1');
  socket.write(`POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf`);
  const request = await waitFor(began.promise, () => 'the request at the owner');
  const ended = new Promise<void>((resolve) => request.on('error', () => undefined).once('close', resolve));
  socket.destroy();
  await waitFor(ended, () => 'the end of the passed request');
  expect(request.complete).toBe(false);
});
