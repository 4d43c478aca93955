import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { joinStreams, NotServed, refuseUpgrade } from '@tendon/runtime';
import { type App, failureBody, failureWith } from '@tendon/server/platform';
import type { HostContext } from './host-context.ts';
import { hostRefusal } from './host-refusal.ts';

const TUNNEL = /^\/sandboxes\/([0-9a-f]{16})\/(?:tunnel\/(\d{1,5})|process)$/;
const CALL = /^\/sandboxes\/([0-9a-f]{16})\/calls\/([0-9a-f]{32})$/;
const CONNECT_MS = 10_000;
const AGREED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n';

/**
 * `GET /sandboxes/<incarnation>/tunnel/<port>` with `Upgrade: tcp`: the connection becomes one to that port of the sandbox, as its
 * executor allows it; `process` in the place of `tunnel/<port>` is a program of it. `GET /sandboxes/<incarnation>/calls/<id>` the same way: it is the one that waits under that name. No route sees an upgrade, so what guards the routes is asked here too. Owns both connections until one ends.
 */
export function relayTunnels(app: App, context: HostContext): void {
  const refusalOf = hostRefusal(context);
  app.server.on('upgrade', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    client.on('error', () => client.destroy());
    const refusal = refusalOf(request, 'admin');
    if (refusal) return refuseUpgrade(client, refusal.status, failureBody(refusal));
    void join(request, client, head, context).catch((cause: Error) => refuseUpgrade(client, 502, failureWith(cause.message)));
  });
}

async function join(request: IncomingMessage, client: Duplex, head: Buffer, { sandboxes }: HostContext): Promise<void> {
  const [, caller, call] = CALL.exec(request.url ?? '') ?? [];
  if (caller !== undefined && request.headers.upgrade === 'tcp') {
    const answer = sandboxes.calls.take(caller, call!);
    if (answer === undefined) return refuseUpgrade(client, 404, failureWith('Nobody waits under that name'));
    client.write(AGREED);
    client.unshift(head);
    return answer(client as Socket);
  }
  const [, incarnation, port] = TUNNEL.exec(request.url ?? '') ?? [];
  if (incarnation === undefined || request.headers.upgrade !== 'tcp')
    return refuseUpgrade(client, 404, failureWith('There is no such tunnel'));
  const reached = await sandboxes.reach(incarnation);
  if (reached.state === 'gone') return refuseUpgrade(client, 410, failureWith(reached.reason));
  try {
    const signal = AbortSignal.timeout(CONNECT_MS);
    const target = port === undefined ? await reached.ports.openProcess({ signal }) : await reached.ports.connect(Number(port), { signal });
    if (client.destroyed) return void target.destroy();
    client.write(AGREED);
    target.write(head);
    joinStreams(client, target);
  } catch (cause) {
    if (!(cause instanceof NotServed)) throw cause;
    refuseUpgrade(client, 404, failureWith(cause.message));
  }
}
