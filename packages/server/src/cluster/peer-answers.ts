/**
 * The internal requests between the servers of a cluster, which clients cannot send. The URL of each carries the digest of its body, and
 * the hop signature covers the URL.
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ReclaimRequest } from '@tendon/protocol';
import type { SandboxPool } from '@tendon/runtime';
import { z } from 'zod';
import type { Readiness } from '../platform/readiness.ts';
import { viewOf, type ConversationView } from '../conversations/conversation-info.ts';
import type { Conversations } from '../conversations/conversations.ts';
import { listTitled } from '../sandboxes/list-titled.ts';

export interface PeerAnswersContext {
  readonly conversations: Conversations;
  readonly runtimes: SandboxPool;
  readonly readiness: Pick<Readiness, 'problem'>;
  readonly sandbox: { readonly driver: string; readonly strength: string };
  readonly version: string;
}

export type PeerQuestion = 'server/about' | 'conversations/views' | 'sandboxes/list' | 'sandboxes/reclaim';

const PREFIX = '/cluster/';
const MAX_BYTES = 256 * 1024;
const Ids = z.object({ ids: z.array(z.string().max(100)).max(1_000) });

type Answers = Readonly<Record<PeerQuestion, (body: unknown, context: PeerAnswersContext) => Promise<unknown>>>;

const ANSWERS = {
  'server/about': async (_body, { readiness, sandbox: { driver, strength }, version }) => ({
    version,
    problem: (await readiness.problem()) ?? null,
    sandbox: `sandboxes: ${driver} (${strength})`,
  }),
  'conversations/views': async (body, { conversations }) => {
    const { ids } = Ids.parse(body);
    const views = await Promise.all(ids.map(async (id) => [id, await viewOf(id, conversations)] as const));
    return Object.fromEntries(views.filter((one): one is readonly [string, ConversationView] => one[1] !== undefined));
  },
  'sandboxes/list': (_body, context) => listTitled(context),
  'sandboxes/reclaim': (body, { runtimes }) => runtimes.reclaim(ReclaimRequest.parse(body)),
} satisfies Answers;

export function questionPath(question: PeerQuestion, body: string): string {
  return `${PREFIX}${question}?digest=${digestOf(body)}`;
}

export function isQuestion({ url = '' }: IncomingMessage): boolean {
  return url.startsWith(PREFIX);
}

/** The caller has verified the signature. */
export async function answerPeer(request: IncomingMessage, response: ServerResponse, context: PeerAnswersContext): Promise<void> {
  const [path = '', query] = (request.url ?? '').slice(PREFIX.length).split('?');
  const answer = Object.hasOwn(ANSWERS, path) ? (ANSWERS as Answers)[path as PeerQuestion] : undefined;
  const body = await bodyOf(request);
  const isWhole = body !== undefined && new URLSearchParams(query).get('digest') === digestOf(body);
  if (request.method !== 'POST' || !answer || !isWhole) return void response.writeHead(404).end();
  const text = JSON.stringify(await answer(JSON.parse(body), context));
  response.writeHead(200, { 'content-type': 'application/json' }).end(text);
}

/** `undefined` when the body is too long. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function digestOf(body: string): string {
  return createHash('sha256').update(body).digest('base64url');
}
