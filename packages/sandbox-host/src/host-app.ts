import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { catalogError } from '@tendon/protocol';
import { FENCED_STATUS } from '@tendon/protocol/executor-api';
import { letGoOfStill, joinStreams, NotServed, refuseUpgrade, type SandboxPorts } from '@tendon/runtime';
import { fastify, type FastifyError, type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type App, fail, failureWith, refuseEncodedBodies, sendFailure, zodCompilers, failureBody } from '@tendon/server/platform';
import type { HostContext, HostRoutes } from './host-context.ts';
import { executorRoutes } from './routes/executor-routes.ts';
import { hostInfoRoutes } from './routes/host-info.ts';
import { ownFileRoutes } from './routes/own-files.ts';
import { ownSandboxRoutes } from './routes/own-sandbox.ts';
import { sandboxRoutes } from './routes/sandboxes.ts';
import { hostRefusal } from './host-refusal.ts';
import { ownerEpochOf } from './owner-epoch.ts';
import { refuseEarlierOwners } from './refuse-earlier-owners.ts';

const MAX_BODY_BYTES = 64 * 1024 * 1024;
const KEEP_ALIVE_MS = 60_000;
const ROUTES: readonly HostRoutes[] = [hostInfoRoutes, ownSandboxRoutes, ownFileRoutes, sandboxRoutes, executorRoutes];

/** The HTTP side of an executor host, not listening yet. `extend` adds to it before the routes, e.g. to record them. */
export async function createHostApp(context: HostContext, extend?: (app: App) => Promise<void>): Promise<App> {
  const { headersMs, requestMs, stillMs, checkMs } = context.timeouts;
  const app: App = fastify({
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: requestMs,
    // Peers of a network can vanish without a word; streams and tunnels are silent for long.
    http: { headersTimeout: headersMs, connectionsCheckingInterval: checkMs, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS },
    forceCloseConnections: true,
    schemaController: zodCompilers,
    routerOptions: { maxParamLength: 300, ignoreTrailingSlash: true },
  });
  app.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null));
  app.addHook('onRequest', async ({ raw }, reply) => letGoOfStill(raw, reply.raw, stillMs));
  hostGuard(app, context);
  refuseEncodedBodies(app);
  app.setErrorHandler<FastifyError>((error, request, reply) => answerError(error, request, reply, context));
  app.setNotFoundHandler((_request, reply) => fail(reply, 'NOT_FOUND'));
  await extend?.(app);
  refuseEarlierOwners(app, context);
  for (const routes of ROUTES) routes(app, context);
  relayTunnels(app, context);
  return app;
}

function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply, { logger }: HostContext): FastifyReply {
  if (error instanceof z.ZodError) {
    const errors = error.issues.map(({ path, message }) => ({ loc: path.map(String), msg: message }));
    return reply.code(422).send({ ...failureWith('Invalid request parameters'), errors });
  }
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return fail(reply, 'FRAME_TOO_LARGE', '64 MB');
  if (error instanceof SyntaxError || error.code === 'FST_ERR_CTP_INVALID_JSON_BODY') return fail(reply, 'INVALID_JSON');
  if (error.statusCode !== undefined && error.statusCode < 500) {
    return sendFailure(reply, { ...catalogError('INVALID_ARGUMENTS', error.message), status: error.statusCode });
  }
  logger.error({ err: error, route: request.routeOptions.url }, 'a request failed');
  return fail(reply, 'INTERNAL');
}

/** Before every route and unknown path. */
function hostGuard(app: App, context: HostContext): void {
  const refusalOf = hostRefusal(context);
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-content-type-options', 'nosniff').header('referrer-policy', 'no-referrer');
    const refusal = refusalOf(request, request.routeOptions.config.isPublic === true ? 'public' : 'admin');
    // Of who has no key nothing more is read.
    if (refusal) return sendFailure(reply.header('connection', 'close'), refusal);
  });
  app.addHook('onResponse', async (request, reply) => {
    const path = request.raw.url?.split('?', 1)[0];
    context.logger.debug({ method: request.method, path, status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'request');
  });
}

const TUNNEL = /^\/sandboxes\/([0-9a-f]{16})\/(?:tunnel\/(\d{1,5})|(process|shell|agent-shell))$/;
const CALL = /^\/sandboxes\/([0-9a-f]{16})\/calls\/([0-9a-f]{32})$/;
const CONNECT_MS = 10_000;
const AGREED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n';

/**
 * `GET /sandboxes/<incarnation>/tunnel/<port>` with `Upgrade: tcp`: the connection becomes one to that port of the sandbox, as its
 * executor allows it; `process` in the place of `tunnel/<port>` is a program of it, `shell` a person's own shell. `GET /sandboxes/<incarnation>/calls/<id>` the same way: it is the one that waits under that name. No route sees an upgrade, so what guards the routes is asked here too. Owns both connections until one ends.
 */
function relayTunnels(app: App, context: HostContext): void {
  const refusalOf = hostRefusal(context);
  app.server.on('upgrade', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    client.on('error', () => client.destroy());
    const refusal = refusalOf(request, 'admin');
    if (refusal) return refuseUpgrade(client, refusal.status, failureBody(refusal));
    void join(request, client, head, context).catch((cause: Error) => refuseUpgrade(client, 502, failureWith(cause.message)));
  });
}

async function join(request: IncomingMessage, client: Duplex, head: Buffer, { sandboxes }: HostContext): Promise<void> {
  const named = /^\/sandboxes\/([0-9a-f]{16})\//.exec(request.url ?? '')?.[1];
  const fenced = named && (await sandboxes.fenced({ incarnation: named }, ownerEpochOf(request.headers), true));
  if (fenced !== undefined && fenced !== '') return refuseUpgrade(client, FENCED_STATUS, failureWith(fenced));
  const [, caller, call] = CALL.exec(request.url ?? '') ?? [];
  if (caller !== undefined && request.headers.upgrade === 'tcp') {
    const answer = sandboxes.calls.take(caller, call!);
    if (answer === undefined) return refuseUpgrade(client, 404, failureWith('Nobody waits under that name'));
    client.write(AGREED);
    client.unshift(head);
    return answer(client as Socket);
  }
  const [, incarnation, port, kind] = TUNNEL.exec(request.url ?? '') ?? [];
  if (incarnation === undefined || request.headers.upgrade !== 'tcp')
    return refuseUpgrade(client, 404, failureWith('There is no such tunnel'));
  const reached = await sandboxes.reach(incarnation);
  if (reached.state === 'gone') return refuseUpgrade(client, 410, failureWith(reached.reason));
  try {
    const signal = AbortSignal.timeout(CONNECT_MS);
    const target = await openIn(reached.ports, port, kind, signal);
    if (client.destroyed) return void target.destroy();
    client.write(AGREED);
    target.write(head);
    joinStreams(client, target);
  } catch (cause) {
    if (!(cause instanceof NotServed)) throw cause;
    refuseUpgrade(client, 404, failureWith(cause.message));
  }
}

function openIn(ports: SandboxPorts, port: string | undefined, kind: string | undefined, signal: AbortSignal): Promise<Duplex> {
  if (port !== undefined) return ports.connect(Number(port), { signal });
  if (kind === 'agent-shell') return ports.openAgentShell({ signal });
  return kind === 'shell' ? ports.openShell({ signal }) : ports.openProcess({ signal });
}
