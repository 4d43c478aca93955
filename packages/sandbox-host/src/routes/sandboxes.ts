import { Failure } from '@tendon/protocol';
import { FENCED_STATUS } from '@tendon/protocol/executor-api';
import { hostPattern } from '@tendon/runtime';
import { z } from 'zod';
import { type App, failureWith } from '@tendon/server/platform';
import { wordsOf } from '@tendon/server/sandboxes';
import type { HostContext, HostRoutes } from '../host-context.ts';
import { ownerEpochOf } from '../owner-epoch.ts';

export const Incarnation = z.object({ incarnation: z.string().regex(/^[0-9a-f]{16}$/, 'sixteen hexadecimal digits are expected') });
const ConversationId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/, 'letters, digits, points, hyphens and underscores are expected, 200 at most');

const HostName = z.string().refine((text) => hostPattern(text) === text, 'a name in lower case is expected, or *.name');
const Reach = z.object({
  mode: z.enum(['none', 'allowlist', 'full']).describe('`allowlist`: package registries, git hosts, and those of `allow`.'),
  allow: z.array(HostName).max(1000).default([]),
});
const GitHost = z.string().regex(/^[a-z0-9.-]{1,253}(?::\d{1,5})?$/, 'a name is expected, with a port where it has one');

const Start = z.object({
  conversation_id: ConversationId.describe('What its home and its workspace belong to; it has one sandbox at a time.'),
  directory: z.string().max(4096).optional().describe('A folder of the workspace, relative; the sandbox sees it as its whole workspace.'),
  lease_seconds: z.number().positive().max(86_400).describe('How long it lives without a word, with nothing running.'),
  no_output_timeout_seconds: z.number().positive().max(86_400).default(10),
  network: Reach.optional().describe('Where it may connect to: no more than this host gives, and all of that when it is left out.'),
  git_hosts: z.array(GitHost).max(100).default([]).describe('Git inside asks for these by way of a call to its server.'),
  read_only: z.boolean().default(false).describe('Nothing inside can change the workspace. Only where `mounts_read_only` is true.'),
});
const Network = Reach.extend({
  refused: z
    .array(z.object({ host: z.string(), port: z.number(), reason: z.string(), count: z.number() }))
    .describe('Where it wanted to connect to and might not: the newest, the last of them last.'),
});
const Sandbox = z.object({
  incarnation: z.string(),
  conversation_id: z.string(),
  workspace: z.string().describe('Where the workspace is for what runs inside.'),
  is_new: z.boolean().describe('Nothing of its conversation was here before: no home, no stored state to restore.'),
});
const Listed = z.object({
  incarnation: z.string(),
  conversation_id: z.string(),
  folder: z.string().describe('Of its workspace, on this host.'),
});
const PauseAnswer = z.union([z.object({ slept: z.literal(true) }), z.object({ slept: z.literal(false), reason: z.string() })]);
const failures = { '4xx': Failure, '5xx': Failure };
const GONE = 410;
const NOBODY_WAITS = 404;
/** Not 403: that is about the key. */
const BEYOND = 409;

/** Sandboxes of remote servers: started, inspected, ended. */
export const sandboxRoutes: HostRoutes = (app, context) => {
  networkRoutes(app, context);
  beginning(app, context);
  ending(app, context);
};

function beginning(app: App, { sandboxes }: HostContext): void {
  const listed = {
    summary: 'The stored sandboxes of servers: of each conversation the newest.',
    response: { 200: z.array(Listed), ...failures },
  };
  app.get('/sandboxes', { schema: listed }, async () =>
    sandboxes.list().map(({ incarnation, conversation_id, workspace }) => ({ incarnation, conversation_id, folder: workspace })),
  );

  const started = {
    summary: 'Starts a sandbox under the name that its server gave it; one that lives already is found. It is never started twice.',
    params: Incarnation,
    body: Start,
    response: { 200: Sandbox, ...failures },
  };
  app.put('/sandboxes/:incarnation', { schema: started }, async ({ params: { incarnation }, body, headers }, reply) => {
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort(new Error('the client is gone')));
    const request = {
      incarnation,
      conversationId: body.conversation_id,
      directory: body.directory,
      leaseSeconds: body.lease_seconds,
      noOutputTimeoutSeconds: body.no_output_timeout_seconds,
      network: body.network,
      gitHosts: body.git_hosts,
      isReadOnly: body.read_only,
      ownerEpoch: ownerEpochOf(headers),
    };
    const beyond = body.network && sandboxes.networkRefusal(body.network);
    if (beyond !== undefined) return reply.code(BEYOND).send(failureWith(beyond));
    try {
      const sandbox = await sandboxes.start(request, gone.signal);
      if (!('state' in sandbox)) return sandbox;
      return reply.code(sandbox.state === 'gone' ? GONE : FENCED_STATUS).send(failureWith(sandbox.reason));
    } catch (cause) {
      return reply.code(503).send(failureWith(wordsOf(cause)));
    }
  });

  const found = {
    summary: 'The sandbox, if it lives; 410 with the reason when it does not.',
    params: Incarnation,
    response: { 200: Sandbox, ...failures },
  };
  app.get('/sandboxes/:incarnation', { schema: found }, async ({ params: { incarnation } }, reply) => {
    const reached = await sandboxes.reach(incarnation);
    if (reached.state === 'gone') return reply.code(GONE).send(failureWith(reached.reason));
    const hosted = sandboxes.list().find((one) => one.incarnation === incarnation);
    return { incarnation, conversation_id: hosted?.conversation_id ?? '', workspace: reached.runtime.workspace, is_new: false };
  });
}

function ending(app: App, { sandboxes }: HostContext): void {
  const pause = {
    summary:
      'Hibernates it (ends it with its state stored, from which the next one of its conversation is restored), or suspends it in place; not while something in it runs or would be lost.',
    params: Incarnation,
    body: z.object({
      with_kernel: z.boolean().default(false).describe('Also when the variables of a kernel are lost by it.'),
      in_place: z
        .boolean()
        .default(false)
        .describe('Suspend it where it is; it resumes by itself. The driver of the host decides which of the two is possible.'),
    }),
    response: { 200: PauseAnswer, ...failures },
  };
  app.post('/sandboxes/:incarnation/sleep', { schema: pause }, async ({ params: { incarnation }, body }, reply) => {
    const answer = body.in_place
      ? await sandboxes.suspend(incarnation)
      : await sandboxes.hibernate(incarnation, { withKernel: body.with_kernel });
    return 'state' in answer ? reply.code(GONE).send(failureWith(answer.reason)) : answer;
  });

  const ended = {
    summary: 'Ends it; answers when nothing of it is left. The home of its conversation stays.',
    params: Incarnation,
    response: { 204: z.null(), ...failures },
  };
  app.delete('/sandboxes/:incarnation', { schema: ended }, async ({ params: { incarnation } }, reply) => {
    await sandboxes.end(incarnation);
    return reply.code(204).send(null);
  });

  const forgotten = {
    summary: 'Ends the sandbox of a conversation and removes its home.',
    params: z.object({ id: ConversationId }),
    querystring: z.object({ workspace: z.stringbool().default(false).describe('And the folder that was made here for it.') }),
    response: { 204: z.null(), ...failures },
  };
  app.delete('/conversations/:id', { schema: forgotten }, async ({ params: { id }, query: { workspace } }, reply) => {
    await sandboxes.forget(id, { workspace });
    return reply.code(204).send(null);
  });
}

function networkRoutes(app: App, { sandboxes }: HostContext): void {
  const path = '/sandboxes/:incarnation/network';
  const shown = {
    summary: 'Where the sandbox may connect to, and what it was refused.',
    params: Incarnation,
    response: { 200: Network, ...failures },
  };
  app.get(path, { schema: shown }, async ({ params: { incarnation } }, reply) => {
    const network = await sandboxes.networkOf(incarnation);
    if (network === undefined) return reply.code(GONE).send(failureWith('there is no such sandbox here'));
    return { ...network, allow: [...network.allow], refused: [...network.refused] };
  });

  const answered = {
    summary:
      'Answers a question that a watch has sent: without a refusal the policy of the sandbox decides, which was changed before. 404 where nobody waits for it.',
    params: Incarnation.extend({ id: z.string().regex(/^[0-9a-f]{32}$/, '32 hexadecimal digits are expected') }),
    body: z.object({ refusal: z.string().max(1024).nullable() }),
    response: { 204: z.null(), ...failures },
  };
  app.post('/sandboxes/:incarnation/questions/:id', { schema: answered }, async ({ params: { incarnation, id }, body }, reply) => {
    const isTaken = sandboxes.questions.answer(incarnation, id, body.refusal ?? undefined);
    return isTaken ? reply.code(204).send(null) : reply.code(NOBODY_WAITS).send(failureWith('Nobody waits under that name'));
  });

  const changed = {
    summary: 'Changes where the sandbox may connect to, from its next connection on; never to more than this host gives.',
    params: Incarnation,
    body: Reach,
    response: { 204: z.null(), ...failures },
  };
  app.put(path, { schema: changed }, async ({ params: { incarnation }, body }, reply) => {
    const beyond = sandboxes.networkRefusal(body);
    if (beyond !== undefined) return reply.code(BEYOND).send(failureWith(beyond));
    const isThere = await sandboxes.setNetwork(incarnation, body);
    return isThere ? reply.code(204).send(null) : reply.code(GONE).send(failureWith('there is no such sandbox here'));
  });
}
