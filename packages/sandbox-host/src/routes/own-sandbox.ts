import { Readable } from 'node:stream';
import type { ExecuteResult, RunnableAction, Runtime } from '@tendon/core';
import { Failure, isRunnable, messageOf, openhandsV0, type ObservationDraft } from '@tendon/protocol';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { failureWith, sendFailure } from '@tendon/server/platform';
import { unloggedActionId, wordsOf } from '@tendon/server/sandboxes';
import type { HostContext, HostRoutes } from '../host-context.ts';

const ActionRequest = z.object({
  action: z
    .looseObject({ action: z.string(), args: z.record(z.string(), z.unknown()).optional(), timeout: z.number().positive().optional() })
    .describe('As it goes over the wire: `run`, `kill`, `run_ipython`, `read`, `write`, `edit`, `browse` or `browse_interactive`.'),
});
const Observation = z
  .looseObject({ observation: z.string(), content: z.string(), extras: z.record(z.string(), z.unknown()), message: z.string() })
  .describe('With `Accept: application/x-ndjson` lines instead: `output` as it comes, then `outcome`, or `unknown` with a reason.');
const Token = z.object({ token: z.string().nullable().describe('Of the editor in the sandbox; null without one.') });

/** Actions in the host's own sandbox, each carried out when it is sent, under no key that could be asked for again. */
export const ownSandboxRoutes: HostRoutes = (app, context) => {
  const schema = { summary: 'Carries out an action.', body: ActionRequest, response: { 200: Observation, '4xx': Failure, '5xx': Failure } };
  app.post('/execute_action', { schema }, async (request, reply) => {
    const decoded = openhandsV0.decode(request.body.action);
    if (decoded.type === 'error') return sendFailure(reply, decoded.error);
    if (decoded.type !== 'action' || !isRunnable(decoded.action.action)) return reply.code(400).send(failureWith('Invalid action type'));
    const runtime = await ownRuntime(context, reply);
    if (!runtime) return reply;
    const action = asEvent(decoded.action as Pick<RunnableAction, 'action' | 'args'>, runtime, context);
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort()); // nobody could ask for its outcome
    if (request.headers.accept?.includes('application/x-ndjson')) {
      return (reply as FastifyReply).type('application/x-ndjson').send(linesOf(runtime, action, gone.signal)) as never;
    }
    const result = await runtime.execute(action, { signal: gone.signal, isFresh: true });
    if (result.outcome !== 'observed') return reply.code(503).send(failureWith(result.reason));
    return withMessage(result.observation);
  });

  const token = { summary: 'The token of the editor in the sandbox.', response: { 200: Token, '4xx': Failure } };
  app.get('/vscode/connection_token', { schema: token }, async () => ({ token: null }));
};

function asEvent(draft: Pick<RunnableAction, 'action' | 'args'>, runtime: Runtime, { clock }: HostContext): RunnableAction {
  const meta = { id: unloggedActionId(), timestamp: clock.now().toISOString(), source: 'user', executor: runtime.incarnation } as const;
  return { ...draft, ...meta } as RunnableAction;
}

function withMessage(observation: ObservationDraft) {
  return { message: messageOf(observation), ...observation };
}

/** Output as it comes, an empty line where there is none for a while, and what became of it. */
function linesOf(runtime: Runtime, action: RunnableAction, signal: AbortSignal): Readable {
  const stream = new Readable({ read: () => undefined });
  const say = (line: object): void => void (stream.destroyed || stream.push(`${JSON.stringify(line)}\n`));
  const stillHere = setInterval(() => stream.destroyed || stream.push('\n'), 15_000);
  const result = runtime.execute(action, {
    signal,
    isFresh: true,
    onOutput: (chunk) => {
      // A client that lags by more than 16 MiB gets the whole in the outcome only.
      if (stream.readableLength < 16 * 1024 * 1024) say({ type: 'output', ...chunk });
    },
  });
  const finish = (outcome: ExecuteResult): void => {
    clearInterval(stillHere);
    say(lastLine(outcome));
    stream.push(null);
  };
  void result.then(finish);
  return stream;
}

function lastLine(result: ExecuteResult): object {
  if (result.outcome === 'observed') return { type: 'outcome', observation: withMessage(result.observation) };
  return { type: result.outcome, reason: result.reason };
}

const START_MS = 60_000;

/** The sandbox of the root routes; where it cannot be had the answer is sent, and `undefined` given. */
export async function ownRuntime({ sandboxes, logger }: HostContext, reply: unknown): Promise<Runtime | undefined> {
  try {
    return await sandboxes.own(AbortSignal.timeout(START_MS));
  } catch (cause) {
    logger.warn({ err: cause }, 'the sandbox did not start');
    await (reply as FastifyReply).code(503).send(failureWith(wordsOf(cause)));
    return undefined;
  }
}
