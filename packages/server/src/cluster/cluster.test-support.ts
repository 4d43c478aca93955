/** Servers of one cluster in one process: what stands before each is real, and behind it is a listener of the test. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Place, Scheduler, ServerNode } from '@tendon/core';
import { createMask, Secret } from '@tendon/protocol/masking';
import { onTestFinished } from 'vitest';
import { composeEngine } from '../app/compose.ts';
import { CLIENT_TIMEOUTS } from '../platform/http/client-timeouts.ts';
import { WrongKeys } from '../platform/http/wrong-keys.ts';
import { createLogger } from '../platform/logger.ts';
import { LoopWatch } from '../platform/loop-watch.ts';
import { Metrics } from '../platform/metrics.ts';
import { systemClock } from '../platform/system-clock.ts';
import { temporaryFolder, testConfig } from '../server.test-support.ts';
import { forwardToOwners, type ForwardContext } from './forward-to-owner.ts';

export const CLUSTER_SECRET = 'the same on all servers of the test';

/** Who owns what, for all servers of a test. Each sees it through a scheduler of its own. */
export class TestCluster {
  readonly nodes = new Map<string, ServerNode>();
  readonly owners = new Map<string, string>();
  /** What one server believes although it is not so, until it looks again. */
  readonly beliefs = new Map<string, string>();

  schedulerOf(self: string): Scheduler {
    const servers = async (): Promise<readonly ServerNode[]> => [...this.nodes.values()];
    const find = async (id: string): Promise<Place> => {
      const believed = this.beliefs.get(`${self} ${id}`);
      this.beliefs.delete(`${self} ${id}`);
      const owner = believed ?? this.owners.get(id);
      const server = owner === undefined ? undefined : this.nodes.get(owner);
      if (owner === self) return { at: 'here' };
      return server ? { at: 'peer', server } : { at: 'nowhere' };
    };
    const nodes = this.nodes;
    return {
      get self() {
        return nodes.get(self);
      },
      servers,
      find,
      findAll: async (ids) => new Map(await Promise.all(ids.map(async (id) => [id, await find(id)] as const))),
      claim: async ({ id }) => {
        if (!this.nodes.has(this.owners.get(id) ?? '')) this.owners.set(id, self);
        return find(id);
      },
      release: async () => undefined,
      epochOf: () => 1,
      start: () => undefined,
      retire: async () => undefined,
    };
  }
}

export interface TestNode {
  readonly id: string;
  readonly url: string;
  readonly port: number;
  readonly http: Server;
  /** Requests that came to what is behind. */
  readonly seen: IncomingMessage[];
  readonly context: ForwardContext;
  /** As a process that was killed, with its lease over. */
  die(): void;
}

export interface NodeOptions {
  readonly id: string;
  readonly behind: RequestListener;
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  readonly env?: Readonly<Record<string, string>>;
  readonly takesConversations?: boolean;
}

export async function testNode(cluster: TestCluster, options: NodeOptions): Promise<TestNode> {
  const { id, behind, upgrade, env, takesConversations = true } = options;
  const config = testConfig(temporaryFolder(), { JWT_SECRET: CLUSTER_SECRET, ...env });
  const logger = createLogger({ level: 'silent', mask: createMask([new Secret(CLUSTER_SECRET)]), destination: { write: () => undefined } });
  const engine = await composeEngine(config, { clock: systemClock, logger });
  const loop = new LoopWatch();
  const gauges = { home: config.home, loop, openConversations: () => 0, sandboxes: () => engine.runtimes.counts(), measured: () => [] };
  const metrics = new Metrics(gauges, systemClock.now());
  const context = {
    ...engine,
    config,
    metrics,
    wrongKeys: new WrongKeys(systemClock),
    timeouts: CLIENT_TIMEOUTS,
    version: 'of the test',
    scheduler: cluster.schedulerOf(id),
  };
  const seen: IncomingMessage[] = [];
  const http = createServer((request, response) => {
    seen.push(request);
    behind(request, response);
  });
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    seen.push(request);
    upgrade?.(request, socket, head);
  });
  const forwarding = forwardToOwners(http, context);
  const sockets = new Set<Socket>();
  http.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  cluster.nodes.set(id, { id, url, takesConversations, load: 0 });
  const die = (): void => {
    for (const socket of sockets) socket.destroy();
    http.close();
  };
  onTestFinished(async () => {
    forwarding.close();
    die();
    await engine.close();
  });
  return { id, url, port, http, seen, context, die };
}
