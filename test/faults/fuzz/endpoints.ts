/** Each endpoint that somebody can reach, and what is thrown at it. */
import { request as httpRequest } from 'node:http';
import * as fc from 'fast-check';
import { io } from 'socket.io-client';
import { WebSocket } from 'ws';
import type { Engine } from '../../../packages/server/src/app/engine.ts';
import { ACTION_KINDS, actionFrame, type ActionKind } from '../../../packages/server/src/fuzz/action-frames.test-support.ts';
import { hostileText, hostileValue } from '../../../packages/server/src/fuzz/hostile-values.test-support.ts';
import { message } from '../../../packages/server/src/fuzz/mcp-messages.test-support.ts';
import { previewRequest } from '../../../packages/server/src/fuzz/preview-requests.test-support.ts';
import { upgradeRequest } from '../../../packages/server/src/fuzz/raw-connection.test-support.ts';
import { addressOf, attackOn, HONEST, send, type Paths } from '../../../packages/server/src/fuzz/rest-attack.test-support.ts';
import { emitted, frame, packet } from '../../../packages/server/src/fuzz/socket-io-frames.test-support.ts';
import { bodyOf, damage, damaged, part, TYPE } from '../../../packages/server/src/fuzz/upload-bodies.test-support.ts';
import {
  checkpointRoutes,
  effectRoutes,
  endRoutes,
  fileRoutes,
  pluginRoutes,
  portRoutes,
  statusRoutes,
} from '../../../packages/executor/src/http/routes.ts';
import { allHostRoutes } from '../../../packages/sandbox-host/src/host.test-support.ts';
import { askableRoutes } from '../../../packages/server/src/app/all-routes.test-support.ts';
import { attackedHost, attackedSandbox, attackedServer, exchange, type AttackedServer } from './attacked.ts';
import { backups, configurations, imports } from './stores.ts';
import { volley, type Volleys } from './volley.ts';

function expectHonest(what: string, status: number, text = ''): void {
  if (status >= 500 && !HONEST.has(status)) throw new Error(`${what}: ${status} ${text.slice(0, 500)}`);
}

async function restRoutes(): Promise<Volleys> {
  const server = await attackedServer();
  const { paths } = await server.tendon.json<{ paths: Paths }>('/openapi.json');
  const routes = (await askableRoutes({ engine: {} as Engine })).filter(({ method }) => method !== 'HEAD');
  const volleys = routes.map((route) => async (seed: number) => {
    const shots = volley(attackOn(route, paths, server.victim()), async (drawn) => {
      const { status, text } = await send(server, route.method, addressOf(route.url, drawn), drawn.body);
      expectHonest(`${route.method} ${route.url}`, status, text);
    });
    await shots(seed);
  });
  return { ...server, volleys };
}

/** A client for a moment: what it emits, and whether it goes with a word. */
async function emit(
  server: AttackedServer,
  query: Readonly<Record<string, string>>,
  frames: readonly (readonly [string, readonly unknown[]])[],
  isDead: boolean,
) {
  const socket = io(server.url, { forceNew: true, reconnection: false, transports: ['websocket'], query });
  await new Promise<void>((resolve) => socket.once('connect', resolve).once('connect_error', () => resolve()));
  for (const [name, values] of frames) socket.emit(name, ...values);
  if (isDead) (socket.io.engine.transport as unknown as { ws?: WebSocket }).ws?.close();
  socket.close();
}

const frames = fc.array(emitted, { maxLength: 6 });

async function socketIo(): Promise<Volleys> {
  const server = await attackedServer();
  const url = () => `${server.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket&conversation_id=${server.victim()}`;
  return {
    ...server,
    volleys: [
      volley(fc.tuple(frames, fc.boolean()), ([all, isDead]) =>
        emit(server, { conversation_id: server.victim(), latest_event_id: '-1' }, all, isDead),
      ),
      volley(fc.tuple(frames, fc.boolean()), ([all, isDead]) => emit(server, {}, all, isDead)),
      volley(fc.tuple(fc.array(packet, { maxLength: 8 }), fc.boolean()), async ([packets, isIn]) => {
        const socket = await opened(url());
        if (isIn) socket.send('40');
        for (const one of packets) socket.send(typeof one === 'string' ? one.toWellFormed() : one);
        await closed(socket);
      }),
      volley(fc.tuple(hostileText, packet), async ([asked, body]) => {
        const polling = `${server.url}/socket.io/?EIO=4&transport=polling`;
        const { sid } = JSON.parse((await (await fetch(polling)).text()).slice(1)) as { sid: string };
        const init = { method: 'POST', body: typeof body === 'string' ? body : Buffer.from(body) };
        expectHonest(
          'a poll',
          (await fetch(`${polling}&sid=${sid}&x=${encodeURIComponent(asked.toWellFormed().slice(0, 1000))}`, init)).status,
        );
      }),
    ],
  };
}

async function opened(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url);
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('open', resolve).once('close', resolve));
  return socket;
}

async function closed(socket: WebSocket): Promise<void> {
  if (socket.readyState === socket.CLOSED) return;
  const gone = new Promise((resolve) => socket.once('close', resolve));
  socket.close();
  await gone;
}

async function plainSockets(): Promise<Volleys> {
  const server = await attackedServer();
  const url = `${server.url.replace('http', 'ws')}/ws`;
  const words = fc.oneof(
    frame.map((value) => JSON.stringify(value) ?? 'null'),
    hostileText,
    fc.uint8Array({ maxLength: 200 }),
  );
  return {
    ...server,
    volleys: [
      volley(
        fc.tuple(
          fc.constantFrom('', '?conversation_id=the victim', '?conversation_id=none&latest_event_id=x'),
          fc.array(words, { maxLength: 8 }),
        ),
        async ([query, all]) => {
          const socket = await opened(url + query.replace('the victim', server.victim()));
          for (const one of all) if (socket.readyState === socket.OPEN) socket.send(typeof one === 'string' ? one.toWellFormed() : one);
          await closed(socket);
        },
      ),
      volley(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 5 }), (pieces) =>
        exchange(server, [upgradeRequest('/ws'), ...pieces], 50),
      ),
      volley(fc.nat({ max: 400 }), (cut) =>
        exchange(
          server,
          [upgradeRequest(`/ws?conversation_id=${server.victim()}`, 'Sec-WebSocket-Extensions: permessage-deflate\r\n').slice(0, cut)],
          20,
        ),
      ),
    ],
  };
}

async function documentDialect(): Promise<Volleys> {
  const server = await attackedServer();
  const shoot = (query: () => Readonly<Record<string, string>>) =>
    volley(fc.tuple(frames, fc.boolean()), ([all, isDead]) => emit(server, { dialect: 'events-doc', ...query() }, all, isDead));
  const at = (latest: string) => () => ({ conversation_id: server.victim(), latest_event_id: latest });
  return { ...server, volleys: [shoot(at('-1')), shoot(() => ({})), shoot(at('x'))] };
}

/** Each kind of action, by socket and by request, in a conversation that has a sandbox. */
async function everyAction(): Promise<Volleys> {
  const server = await attackedServer({ RUNTIME: 'local' });
  const volleys = ACTION_KINDS.map((kind) =>
    volley(fc.tuple(actionFrame(kind), fc.boolean()), async ([action, isRequest]) => {
      if (!isRequest)
        return emit(server, { conversation_id: server.victim(), latest_event_id: '-1' }, [['oh_user_action', [action]]], false);
      const { status, text } = await send(server, 'POST', `/api/conversations/${server.victim()}/events`, action);
      return expectHonest(`a ${kind}`, status, text);
    }),
  );
  return { ...server, volleys };
}

async function mcp(): Promise<Volleys> {
  const server = await attackedServer();
  const shoot = volley(fc.tuple(message, fc.string({ maxLength: 60 })), async ([body, header]) => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'x-openhands-serverconversation-id': header.replaceAll(/[^ -~]/g, '').trim(),
    };
    const answer = await fetch(`${server.url}/mcp/mcp`, { method: 'POST', headers, body: JSON.stringify(body) ?? 'null' });
    expectHonest('/mcp/mcp', answer.status, await answer.text());
  });
  return { ...server, volleys: [shoot] };
}

async function previews(): Promise<Volleys> {
  const server = await attackedServer();
  const isRefused = async (bytes: Buffer): Promise<void> => {
    const answer = await exchange(server, [bytes]);
    if (!/^HTTP\/1\.1 4\d\d /.test(answer)) throw new Error(`${bytes.toString('latin1')}\n${answer}`);
  };
  return { ...server, volleys: [volley(previewRequest, isRefused)] };
}

async function uploads(): Promise<Volleys> {
  const server = await attackedServer({ RUNTIME: 'none' });
  const shoot = volley(fc.tuple(fc.array(part, { maxLength: 6 }), damage), async ([parts, how]) => {
    const body = new Uint8Array(damaged(bodyOf(parts), how));
    const answer = await fetch(`${server.url}/api/conversations/${server.victim()}/upload-files`, {
      method: 'POST',
      headers: { 'content-type': TYPE },
      body,
    });
    expectHonest('an upload', answer.status, await answer.text());
  });
  const zip = volley(fc.boolean(), async (isRead) => {
    const stop = new AbortController();
    const answer = await fetch(`${server.url}/api/conversations/${server.victim()}/zip-directory`, { signal: stop.signal });
    if (isRead) await answer.arrayBuffer();
    else stop.abort();
    expectHonest('a zip', answer.status);
  });
  return { ...server, volleys: [shoot, shoot, shoot, zip] };
}

/** Requests that end in the middle of anything, and peers that ask and do not read. */
async function slowPeers(): Promise<Volleys> {
  const server = await attackedServer();
  const post = 'HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
  const beginnings = [
    `POST /api/conversations ${post}Content-Length: 100000\r\n\r\n{"initial_user_msg":"`,
    `POST /api/settings ${post}Transfer-Encoding: chunked\r\n\r\nffffff\r\n{`,
    `POST /socket.io/?EIO=4&transport=polling ${post}Content-Length: 1000\r\n\r\n4`,
    `POST /api/conversations/x/upload-files HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${TYPE}\r\nContent-Length: 100000\r\n\r\n--x7`,
    `POST /mcp/mcp ${post}Content-Length: 1000\r\n\r\n{"jsonrpc"`,
    `GET /api/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(30),
    upgradeRequest('/socket.io/?EIO=4&transport=websocket'),
  ];
  const shoot = volley(fc.tuple(fc.constantFrom(...beginnings), fc.nat({ max: 400 }), fc.nat({ max: 50 })), ([text, cut, ms]) =>
    exchange(server, [text.slice(0, 400 + cut)], ms + 1),
  );
  return { ...server, volleys: [shoot] };
}

const BODY_FIELDS = 'path action args conversation_id workspace session_id key seconds name checkpoint start end'.split(' ');
const hostBody = fc.oneof(hostileValue, fc.dictionary(fc.constantFrom(...BODY_FIELDS), hostileValue, { maxKeys: 4 }));

async function executorHost(): Promise<Volleys> {
  const { host, ...attacked } = await attackedHost();
  const encoded = (text: string) => encodeURIComponent(text.toWellFormed().slice(0, 500));
  const volleys = (await allHostRoutes())
    .filter(({ method }) => method !== 'HEAD' && method !== 'OPTIONS')
    .map(({ method, url }) =>
      volley(
        fc.tuple(fc.array(hostileText, { minLength: 3, maxLength: 3 }), hostileText, hostBody, fc.boolean()),
        async ([params, path, body, isKnown]) => {
          let next = 0;
          const address = `${url.replace(/:\w+|\*/g, () => encoded(params[next++ % 3]!))}?path=${encoded(path)}`;
          const init = { method, headers: { 'content-type': 'application/json', ...(!isKnown && { 'x-session-api-key': 'another' }) } };
          const answer = await host.call(address, method === 'GET' ? init : { ...init, body: JSON.stringify(body) ?? 'null' });
          expectHonest(`${method} ${address}`, answer.status, await answer.text());
        },
      ),
    );
  return { ...attacked, volleys };
}

/** What an executor carries out itself; what its shell, kernel and browser are sent is theirs. */
const CARRIED_OUT: readonly ActionKind[] = ['read', 'write', 'edit', 'restore_checkpoint'];

/** They answer for as long as they are listened to, or end it when they are asked as they should be. */
const NEVER_OVER = ['/watch', '/ports/follow', '/sleep', '/end_work', '/shutdown'];
const NO_PARTS = {} as never;
const EXECUTOR_PATHS = [
  ...Object.keys({
    ...statusRoutes(NO_PARTS),
    ...effectRoutes(NO_PARTS, NO_PARTS),
    ...fileRoutes(NO_PARTS, NO_PARTS),
    ...checkpointRoutes(NO_PARTS),
    ...portRoutes(NO_PARTS),
    ...pluginRoutes(NO_PARTS, NO_PARTS),
    ...endRoutes(NO_PARTS),
  })
    .map((route) => route.split(' ')[1]!.replace(':key', 'x'))
    .filter((path) => !NEVER_OVER.includes(path)),
  '/effects/%00/cancel',
  '/../files',
  '/%',
];

async function executorSocket(): Promise<Volleys> {
  const sandbox = await attackedSandbox();
  const { executorSocket: socketPath } = sandbox;
  const asked = fc.record({
    method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH'),
    path: fc.constantFrom(...EXECUTOR_PATHS),
    query: fc.dictionary(fc.constantFrom('path', 'from', '__proto__'), hostileText, { maxKeys: 2 }),
    body: hostBody,
  });
  const ask = (method: string, path: string, body?: unknown): Promise<void> =>
    new Promise((resolve, reject) => {
      const request = httpRequest({ socketPath, method, path, agent: false }, (response) => {
        response
          .resume()
          .once('end', resolve)
          .once('error', () => resolve());
        if (response.statusCode! >= 500) reject(new Error(`${method} ${path}: ${response.statusCode}`));
      });
      request.on('error', () => resolve());
      request.end(method === 'GET' ? undefined : JSON.stringify(body));
    });
  const requests = volley(asked, ({ method, path, query, body }) => {
    const search = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed().slice(0, 500))}`);
    return ask(method, `${path}?${search.join('&')}`, body);
  });
  let key = 0;
  const actions = CARRIED_OUT.map((kind) =>
    volley(actionFrame(kind), (action) =>
      ask('POST', '/execute_action', { key: `fuzz-${key++}`, digest: 'x', incarnation: sandbox.incarnation, action }),
    ),
  );
  const noise = volley(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 4 }), (pieces) =>
    exchange({ path: socketPath }, ['POST /list_files HTTP/1.1\r\nHost: x\r\n', ...pieces], 20),
  );
  return {
    ...sandbox,
    volleys: [requests, ...actions, noise],
    heldBytes: sandbox.executorBytes,
  };
}

const target = fc.oneof(
  hostileText,
  fc.constantFrom(
    '127.0.0.1:1',
    'localhost:22',
    '[::1]:443',
    '169.254.169.254:80',
    'x.invalid:443',
    'git.tendon.internal:443',
    ':',
    'a:99999',
    '[',
    '１２７.0.0.1:80',
  ),
);
const CRLF = '\r\n';

async function egressProxy(): Promise<Volleys> {
  const sandbox = await attackedSandbox({ SANDBOX_NETWORK: 'allowlist' });
  const proxy = { path: sandbox.proxySocket };
  const header = fc.tuple(hostileText, hostileText).map(([name, value]) => `${name}: ${value}${CRLF}`.slice(0, 3000));
  const hello = fc
    .tuple(fc.uint8Array({ maxLength: 400 }), fc.nat({ max: 65_535 }))
    .map(([bytes, length]) => Buffer.concat([Buffer.from([22, 3, 1, length >> 8, length & 255, 1, 0]), bytes]));
  const tunnels = volley(
    fc.tuple(target, fc.array(header, { maxLength: 3 }), fc.array(hello, { maxLength: 3 })),
    ([host, headers, hellos]) =>
      exchange(proxy, [Buffer.from(`CONNECT ${host} HTTP/1.1${CRLF}${headers.join('')}${CRLF}`, 'latin1'), ...hellos], 100),
  );
  const plain = volley(
    fc.tuple(fc.constantFrom('GET', 'POST', 'PUT', 'TRACE'), target, hostileText, hostBody),
    ([method, host, path, body]) => {
      const text = JSON.stringify(body) ?? '';
      return exchange(
        proxy,
        [
          Buffer.from(
            `${method} http://${host}/${path} HTTP/1.1${CRLF}Host: ${host}${CRLF}Content-Length: ${text.length}${CRLF}${CRLF}${text}`,
            'latin1',
          ),
        ],
        100,
      );
    },
  );
  const noise = volley(fc.array(fc.uint8Array({ maxLength: 500 }), { maxLength: 4 }), (pieces) => exchange(proxy, pieces, 20));
  return { ...sandbox, volleys: [tunnels, plain, noise] };
}

async function gitBroker(): Promise<Volleys> {
  const sandbox = await attackedSandbox();
  const proxy = { path: sandbox.proxySocket };
  const piece = fc.oneof(
    hostileText,
    fc.constantFrom(
      'github.com',
      'a',
      'b.git',
      '..',
      'info',
      'refs',
      'git-upload-pack',
      'git-receive-pack',
      'info/lfs/objects/batch',
      '127.0.0.1:1',
    ),
  );
  const requests = volley(
    fc.record({
      method: fc.constantFrom('GET', 'POST', 'PUT', 'CONNECT'),
      path: fc.array(piece, { maxLength: 6 }),
      service: hostileText,
      body: fc.uint8Array({ maxLength: 500 }),
    }),
    ({ method, path, service, body }) => {
      const url = `http://git.tendon.internal/${path.join('/')}?service=${service}`;
      const head = `${method} ${url.slice(0, 8000)} HTTP/1.1${CRLF}Host: git.tendon.internal${CRLF}Content-Length: ${body.length}${CRLF}${CRLF}`;
      return exchange(proxy, [Buffer.from(head, 'latin1'), body], 100);
    },
  );
  return { ...sandbox, volleys: [requests] };
}

export const ENDPOINTS: Readonly<Record<string, () => Promise<Volleys>>> = {
  'the REST routes': restRoutes,
  'Socket.IO': socketIo,
  '/ws': plainSockets,
  'the events document’s dialect': documentDialect,
  'every kind of action': everyAction,
  'the MCP endpoint': mcp,
  previews,
  'uploads and zips': uploads,
  'all of them by peers that stop': slowPeers,
  'an executor host': executorHost,
  'an executor’s own socket': executorSocket,
  'the egress proxy': egressProxy,
  'the git broker': gitBroker,
  imports,
  backups,
  'the configuration': configurations,
};
