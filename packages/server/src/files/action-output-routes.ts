import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { Failure, type Event } from '@tendon/protocol';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { type EventLog, type Runtime } from '@tendon/core';
import { createMask, type Secret } from '@tendon/protocol/masking';
import type { Routes } from '../platform/http/app.ts';
import { ById } from '../platform/http/request-parts.ts';
import { fail, failureWith, sendFailure } from '../platform/http/failure.ts';
import { workspaceOf, type WorkspaceContext } from '../sandboxes/workspace-of.ts';
import type { Conversations } from '../conversations/conversations.ts';
import type { StoredConversation } from '../conversations/conversation-records.ts';

const ByEvent = ById.extend({ eventId: z.coerce.number().int().min(0) });

interface OutputContext extends WorkspaceContext {
  readonly conversations: Conversations;
  readonly mcpServers: { secretsOf(record: StoredConversation): readonly Secret[] };
  /** Everything that must not be printed, as of now. */
  secrets(): readonly Secret[];
}

/** Ours: all that a command or a cell has printed, as a file. */
export const actionOutputRoutes: Routes<OutputContext> = (app, context) => {
  const schema = { params: ByEvent, response: { '4xx': Failure, 500: Failure } };
  app.get('/api/conversations/:id/events/:eventId/output', { schema }, async ({ params: { id, eventId } }, reply) => {
    const { conversations, mcpServers, secrets } = context;
    const [log, record] = await Promise.all([conversations.log(id), conversations.get(id)]);
    if (!log || !record) return fail(reply, 'CONVERSATION_NOT_FOUND', id);
    const found = await foundOutput(log, eventId);
    if (found.state === 'none') return reply.code(404).send(failureWith(found.reason));
    if (found.state === 'whole') return asFile(reply, eventId, found.text);
    const workspace = await workspaceOf(context, id);
    if ('code' in workspace) return sendFailure(reply, workspace);
    const named = { actionId: found.actionId, epoch: log.epochOf(found.actionId) };
    const output = await wholeOutput(workspace.runtime, named, [...secrets(), ...mcpServers.secretsOf(record)]);
    if (output) return asFile(reply, eventId, Readable.from(output));
    return reply.code(404).send(failureWith('The sandbox does not keep this output any more; the event has its beginning and its end.'));
  });
};

function asFile(reply: unknown, eventId: number, body: string | Readable): never {
  const name = `attachment; filename="output-${eventId}.txt"`;
  return (reply as FastifyReply).type('text/plain; charset=utf-8').header('content-disposition', name).send(body) as never;
}

type FoundOutput =
  | { readonly state: 'whole'; readonly text: string }
  /** Longer than its event, or still growing: the sandbox has it. */
  | { readonly state: 'in-sandbox'; readonly actionId: number }
  | { readonly state: 'none'; readonly reason: string };

const PRINTING = new Set(['run', 'run_ipython']);
const CUT = '[... Observation truncated due to length';
/** An observation that comes later than so many events after its action is looked for no further. */
const MAX_BETWEEN = 1000;

/** Where the output of an action is; `eventId` names the action or its observation. */
async function foundOutput(log: EventLog, eventId: number): Promise<FoundOutput> {
  const event = await eventAt(log, eventId);
  if (!event) return { state: 'none', reason: `There is no event ${eventId} in this conversation.` };
  const action = 'observation' in event && event.cause !== undefined ? await eventAt(log, event.cause) : event;
  if (!action || !('action' in action) || !PRINTING.has(action.action))
    return { state: 'none', reason: `Event ${eventId} is neither a command or a cell nor the answer to one, so it has no output.` };
  const later = await log.read({ from: action.id + 1, limit: MAX_BETWEEN });
  const answer = later.find((one) => 'observation' in one && one.cause === action.id);
  if (!answer || !('content' in answer) || typeof answer.content !== 'string' || answer.content.includes(CUT))
    return { state: 'in-sandbox', actionId: action.id };
  return { state: 'whole', text: answer.content };
}

async function eventAt(log: EventLog, id: number): Promise<Event | undefined> {
  return (await log.read({ from: id, to: id + 1 }))[0];
}

const MAX_BYTES = 1024 ** 3;
const PIECE_MS = 30_000;

/**
 * What an action has printed so far, piece by piece as it is taken; nothing where the sandbox has none of it. The agent can write
 * to the file it comes from, so secrets are hidden once more on the way. Where there are none it is the same to the byte.
 */
async function wholeOutput(
  runtime: Runtime,
  { actionId, epoch }: { readonly actionId: number; readonly epoch: string },
  secrets: readonly Secret[],
): Promise<AsyncIterable<string | Uint8Array> | undefined> {
  const pieceAt = (offset: number) => runtime.output(actionId, offset, { signal: AbortSignal.timeout(PIECE_MS), epoch });
  const first = await pieceAt(0).catch(() => undefined);
  return first === undefined ? undefined : masked(pieces(first, pieceAt), secrets);
}

async function* pieces(first: Uint8Array, pieceAt: (offset: number) => Promise<Uint8Array | undefined>): AsyncGenerator<Uint8Array> {
  let offset = 0;
  for (let piece: Uint8Array | undefined = first; piece && piece.length > 0 && offset < MAX_BYTES; piece = await pieceAt(offset)) {
    yield piece;
    offset += piece.length;
  }
}

async function* masked(output: AsyncIterable<Uint8Array>, secrets: readonly Secret[]): AsyncGenerator<string | Uint8Array> {
  if (!secrets.some((secret) => secret.isMaskable)) return yield* output;
  const decoder = new StringDecoder('utf8');
  const stream = createMask(secrets).stream();
  for await (const piece of output) yield stream.push(decoder.write(Buffer.from(piece)));
  yield stream.push(decoder.end()) + stream.flush();
}
