import type { Server } from 'node:http';
import type { Server as SocketIoServer } from 'socket.io';
import { sessionIdOf } from '../realtime/session-ids.ts';
import { bridgeSocketIo } from './bridge-socket-io.ts';
import { forwardToOwners, type ForwardContext } from './forward-to-owner.ts';

export { Peers } from './peers.ts';

/** Connects a server to its peers. Called last, when every other listener is set. */
export function joinCluster(http: Server, io: SocketIoServer, context: ForwardContext): { close(): void } {
  const forwarding = forwardToOwners(http, context);
  bridgeSocketIo(io, { context, ...forwarding });
  const engine = io.engine as unknown as { generateId(request: unknown): string };
  const random = engine.generateId.bind(engine);
  engine.generateId = (request) => sessionIdOf(random(request), context.scheduler.self?.id ?? '');
  return forwarding;
}
