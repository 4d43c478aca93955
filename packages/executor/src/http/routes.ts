import { pipeline } from 'node:stream/promises';
import type { Alive, ExecuteRequest, SuspendAnswer } from '@tendon/protocol/executor-api';
import type { Checkpoints } from '../checkpoints/checkpoints.ts';
import type { Effects } from '../effects/effects.ts';
import type { LinesToEditOf } from '../files/edit/lines-to-edit.ts';
import type { SandboxFiles } from '../files/sandbox-files.ts';
import type { Plugins } from '../plugins/open-plugins.ts';
import type { PortWatch } from '../ports/port-watch.ts';
import type { HibernateOptions } from '../suspend/hibernate.ts';
import { beginLines, empty, json, jsonFields, sendLine, type Exchange, type Routes } from './exchange.ts';
import type { Lease } from './lease.ts';
import type { ServerInfo } from './server-info.ts';

const MAX_ACTION_BYTES = 64 * 1024 * 1024;

export interface StatusParts {
  readonly alive: Alive;
  readonly info: () => Promise<ServerInfo & { readonly plugins: ReturnType<Plugins['states']> }>;
  readonly lease: Lease;
}

export function statusRoutes({ alive, info, lease }: StatusParts): Routes {
  return {
    'GET /alive': ({ response }) => json(response, alive),
    'GET /watch': ({ response }) => void beginLines(response),
    'GET /server_info': async ({ response }) => json(response, await info()),
    'POST /lease': async ({ request, response }) => {
      const seconds = (await jsonFields(request)).number('seconds', 0);
      if (!(seconds > 0)) throw new Error('seconds must be a positive number');
      lease.renew(seconds);
      empty(response);
    },
  };
}

/** `resume`: called before anything is asked of what the agent started. */
export function effectRoutes(effects: Effects, resume: () => void): Routes {
  return {
    'POST /execute_action': async ({ request, response }) => {
      const { all } = await jsonFields(request, MAX_ACTION_BYTES);
      resume();
      const lines = effects.execute(all as unknown as ExecuteRequest)[Symbol.asyncIterator]();
      const gone = beginLines(response);
      for (let next = await lines.next(); !next.done && !gone.aborted; next = await lines.next())
        await sendLine(response, next.value, gone);
      response.end();
    },
    'GET /effects/:key': (exchange) => json(exchange.response, effects.report(keyOf(exchange), digestOf(exchange))),
    'POST /effects/:key/cancel': (exchange) => {
      effects.cancel(keyOf(exchange), digestOf(exchange));
      empty(exchange.response);
    },
    'GET /effects/:key/output': (exchange) => {
      const { response, url } = exchange;
      const from = Number(url.searchParams.get('from') ?? 0);
      if (!Number.isSafeInteger(from) || from < 0) throw new Error('from must be an offset in bytes');
      const piece = effects.output(keyOf(exchange), from);
      if (!piece) return json(response, { error: 'no output of that key is stored' }, 404);
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': piece.length }).end(piece);
    },
  };
}

export function fileRoutes(files: SandboxFiles, linesToEdit: LinesToEditOf): Routes {
  return {
    'POST /list_files': async ({ request, response }) => {
      const body = await jsonFields(request);
      json(response, await files.list(body.text('path', '')));
    },
    'GET /files': async ({ response, url }) => {
      const { stream, bytes } = await files.open(url.searchParams.get('path') ?? '');
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes });
      // Also when the client goes in the middle: a pipe alone would leave the file open.
      await pipeline(stream, response).catch(() => {});
    },
    'PUT /files': async ({ request, response, url }) => {
      await files.write(url.searchParams.get('path') ?? '', request);
      empty(response);
    },
    'POST /lines_to_edit': async ({ request, response }) => {
      const body = await jsonFields(request);
      json(response, await linesToEdit(body.text('path', ''), { start: body.number('start', 1), end: body.number('end', -1) }));
    },
  };
}

/** Names a copy, and no path. */
const COPY_NAME = /^[0-9a-f]{32}$/;

export function checkpointRoutes(checkpoints: Pick<Checkpoints, 'list' | 'compare' | 'copy' | 'file'>): Routes {
  return {
    'GET /checkpoints': async ({ response }) => json(response, await checkpoints.list()),
    'POST /compare_checkpoint': async ({ request, response }) => {
      const body = await jsonFields(request);
      const until = body.number('until', 0);
      const options = { until: until === 0 ? undefined : until, lines: body.flag('lines') };
      json(response, await checkpoints.compare(body.number('checkpoint', 0), options));
    },
    'POST /checkpoint_file': async ({ request, response }) => {
      const body = await jsonFields(request);
      json(response, await checkpoints.file(body.number('checkpoint', 0), body.text('path', ''), body.number('max_bytes', 0)));
    },
    'POST /copy_workspace': async ({ request, response }) => {
      const body = await jsonFields(request);
      const name = body.text('name', '');
      if (!COPY_NAME.test(name)) throw new Error('name must be 32 hexadecimal digits');
      const number = body.number('checkpoint', 0);
      const { left } = await checkpoints.copy(number === 0 ? undefined : number, name);
      json(response, { left });
    },
  };
}

export function portRoutes(ports: PortWatch): Routes {
  return {
    'GET /ports': async ({ response }) => json(response, { ports: await ports.list() }),
    'GET /ports/follow': async ({ response }) => {
      const gone = beginLines(response);
      for await (const list of ports.follow(gone)) {
        // A client that does not read is hung up on: the list is short, and one that comes back gets it whole.
        if (!response.write(`${JSON.stringify({ ports: list })}\n`)) response.destroy();
      }
      response.end();
    },
  };
}

export function pluginRoutes(plugins: Plugins, resume: () => void): Routes {
  return {
    'POST /plugins/start': async ({ request, response }) => {
      const name = (await jsonFields(request)).text('name', '');
      resume();
      const plugin = plugins.find(name);
      json(response, plugin ? await plugin.start() : { ok: false, reason: `This sandbox does not have the plugin "${name}".` });
    },
  };
}

export interface EndParts {
  /** Ends it with its state stored, or says why it cannot. */
  readonly hibernate: (options: HibernateOptions) => Promise<SuspendAnswer>;
  /** Stops what the agent started, in place. */
  readonly suspend: () => SuspendAnswer;
  readonly resume: () => void;
  /** Kills what the agent has started. */
  readonly endWork: () => Promise<void>;
  readonly shutdown: () => void;
}

/** What ends the executor, or what the agent started in it. */
export function endRoutes({ hibernate, suspend, resume, endWork, shutdown }: EndParts): Routes {
  return {
    'POST /sleep': async ({ request, response }) => {
      const body = await jsonFields(request);
      const withKernel = body.flag('with_kernel');
      if (body.flag('in_place')) return json(response, suspend());
      // Another server may have come for it by then, which knows nothing of this.
      const isWanted = (): boolean => !request.socket.destroyed;
      const answer = await hibernate({ withKernel, isWanted });
      json(response, answer);
      if (answer.slept) response.once('close', shutdown);
    },
    'POST /end_work': async ({ response }) => {
      resume();
      await endWork();
      empty(response);
    },
    'POST /shutdown': ({ response }) => {
      response.once('finish', shutdown);
      empty(response);
    },
  };
}

/** Throws for a key that is no URL component. */
function keyOf({ url }: Exchange): string {
  return decodeURIComponent(url.pathname.split('/')[2] ?? '');
}

function digestOf({ url }: Exchange): string | undefined {
  return url.searchParams.get('digest') ?? undefined;
}
