import type { ServerResponse } from 'node:http';
import { Failure } from '@tendon/protocol';
import { relay, type WatchLine } from '@tendon/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type App, failureWith } from '@tendon/server/platform';
import type { HostContext, HostRoutes } from '../host-context.ts';
import type { QuestionWatcher } from '../sandbox-questions.ts';
import { Incarnation } from './sandboxes.ts';

interface ExecutorRoute {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly summary: string;
  readonly params?: z.ZodRawShape;
  readonly querystring?: z.ZodType;
}

const path = z.object({ path: z.string() });
const key = { key: z.string().describe('`<conversation>:<epoch>:<event>`') };
const digest = z.object({
  digest: z.string().optional().describe('Of the action: of another one with that key nothing is reported or cancelled.'),
});

/** What the executor of each sandbox answers; it checks what it is asked itself, and its answers are handed on as they are. */
const EXECUTOR_ROUTES: readonly ExecutorRoute[] = [
  { method: 'GET', path: 'alive', summary: 'Its incarnation, when it answers.' },
  { method: 'GET', path: 'server_info', summary: 'Uptime, memory, processes.' },
  {
    method: 'POST',
    path: 'execute_action',
    summary: 'Carries out an action under its key, once; asked again it is attached to. Lines of JSON: output, then the outcome.',
  },
  { method: 'GET', path: 'effects/:key', summary: 'What is known of a key.', params: key, querystring: digest },
  { method: 'GET', path: 'effects/:key/output', summary: 'A piece of what an action printed, from a byte on (`from`).', params: key },
  {
    method: 'POST',
    path: 'effects/:key/cancel',
    summary: 'Cancels the action of that key; it still ends with an outcome.',
    params: key,
    querystring: digest,
  },
  { method: 'POST', path: 'list_files', summary: 'Names in a folder.' },
  { method: 'GET', path: 'files', summary: 'The bytes of a file.', querystring: path },
  { method: 'PUT', path: 'files', summary: 'Writes a file.', querystring: path },
  { method: 'POST', path: 'lines_to_edit', summary: 'The lines of a file that an edit of a model is about.' },
  { method: 'GET', path: 'checkpoints', summary: 'States of the workspace that can be restored.' },
  { method: 'POST', path: 'compare_checkpoint', summary: 'What restoring one of them would do to the files now.' },
  { method: 'POST', path: 'checkpoint_file', summary: 'What a path of the workspace was at one of them.' },
  { method: 'GET', path: 'ports', summary: 'Ports that the programs of the agent serve.' },
  { method: 'GET', path: 'ports/follow', summary: 'Lines of JSON: the same, now and whenever it has changed.' },
  { method: 'POST', path: 'plugins/start', summary: 'Starts a plugin, such as an editor.' },
  { method: 'POST', path: 'lease', summary: 'Keeps it alive for so many seconds without a word.' },
];

const PREFIX = '/sandboxes/:incarnation';
const RELAYED: ReadonlySet<string> = new Set(EXECUTOR_ROUTES.map((route) => `${PREFIX}/${route.path}`));
const STILL_HERE_MS = 15_000;
const GONE = 410;
const anything = { '2xx': z.any(), '4xx': Failure, '5xx': Failure };

/** An executor answers it, and refuses it itself. */
export function isRelayed(url: string | undefined): boolean {
  return url !== undefined && RELAYED.has(url);
}

export const executorRoutes: HostRoutes = (app, context) => {
  watch(app, context);
  void app.register(async (scope: App) => {
    // Bodies are the executor's to read.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    const handler = (request: FastifyRequest, reply: FastifyReply) => handOn(request, reply, context);
    for (const { method, path: url, summary, params = {}, querystring } of EXECUTOR_ROUTES) {
      const schema = { summary, params: Incarnation.extend(params), response: anything, ...(querystring && { querystring }) };
      scope.route({ method, url: `${PREFIX}/${url}`, schema, handler: handler as never });
    }
  });
};

async function handOn(request: FastifyRequest, reply: FastifyReply, { sandboxes }: HostContext): Promise<void> {
  const { incarnation } = request.params as { readonly incarnation: string };
  const reached = await sandboxes.reach(incarnation);
  if (reached.state === 'gone') return void reply.code(GONE).send(failureWith(reached.reason));
  reply.hijack();
  const rest = request.raw.url!.slice(request.raw.url!.indexOf(incarnation) + incarnation.length);
  await relay(reached.address, rest, request.raw, reply.raw);
}

function watch(app: App, { sandboxes }: HostContext): void {
  const schema = {
    summary:
      'Stays open as long as the sandbox lives, with an empty line now and then. The first line is `{"watching": true}`, the last `{"ended": <why>}`; ' +
      '`{"call": <id>}` says that something inside asks for its server, which fetches the connection by an upgrade of `calls/<id>`; ' +
      '`{"question": {id, host, port}}` that a connection to a host on no list waits for a person, whose answer goes to `questions/<id>`.',
    params: Incarnation,
    querystring: z.object({
      questions: z.stringbool().default(false).describe('Whether the client takes questions; without it none waits.'),
    }),
    response: anything,
  };
  app.get(`${PREFIX}/watch`, { schema }, async ({ params: { incarnation }, query }, reply) => {
    const reached = await sandboxes.reach(incarnation);
    if (reached.state === 'gone') return reply.code(GONE).send(failureWith(reached.reason));
    reply.hijack();
    await streamUntilLost(reply.raw, reached.runtime.lost, (say) => followSandbox(sandboxes, incarnation, query.questions, say));
    return reply;
  });
}

/** What a watch reports of a sandbox beside its end. */
interface Followed {
  /** Now and then: what may have been lost is sent once more. */
  repeat(): void;
  stop(): void;
}

function followSandbox(
  { calls, questions }: HostContext['sandboxes'],
  incarnation: string,
  takesQuestions: boolean,
  say: (line: WatchLine) => void,
): Followed {
  const watcher: QuestionWatcher = { onQuestion: takesQuestions ? (question) => say({ question }) : undefined };
  const stops = [calls.watch(incarnation, (call) => say({ call })), questions.watch(incarnation, watcher)];
  return {
    repeat: () => questions.repeat(incarnation, watcher),
    stop: () => stops.forEach((stop) => stop()),
  };
}

async function streamUntilLost(
  response: ServerResponse,
  lost: Promise<string>,
  follow: (say: (line: WatchLine) => void) => Followed,
): Promise<void> {
  const closed = new Promise<undefined>((resolve) => response.once('close', () => resolve(undefined)));
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  const say = (line: WatchLine): void => void (response.writableNeedDrain || response.write(`${JSON.stringify(line)}\n`));
  say({ watching: true });
  // A client that does not read gets nothing: the call is given up after a while.
  const followed = follow(say);
  const stillHere = setInterval(() => {
    if (!response.writableNeedDrain) response.write('\n');
    followed.repeat();
  }, STILL_HERE_MS);
  const reason = await Promise.race([lost, closed]);
  clearInterval(stillHere);
  followed.stop();
  if (reason !== undefined) response.end(`${JSON.stringify({ ended: reason } satisfies WatchLine)}\n`);
}
