/**
 * Receives webhooks. Senders need no key of this server: requests are limited in size and rate, and a body is parsed only after its sender
 * has proven that it knows the secret.
 */
import type { Clock } from '@tendon/core';
import { Delivered, Failure } from '@tendon/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { App, Routes } from '../platform/http/app.ts';
import { clientAddress } from '../platform/http/client-of.ts';
import { fail, failureWith } from '../platform/http/failure.ts';
import { createRateLimit, type RateLimit } from '../platform/http/rate-limit.ts';
import { mentionPrompt, payloadPrompt } from './delivery-prompt.ts';
import type { DeliveryTask } from './delivery-store.ts';
import { readGithubEvent, readGitlabEvent, type Mention } from './mention.ts';
import { ByTrigger, sendAcceptance } from './trigger-routes.ts';
import type { StoredTrigger } from './trigger-store.ts';
import { plainTask, type Triggers } from './triggers.ts';
import { deliveryName, proofOf, shownName } from './webhook-signature.ts';

const MAX_BODY_BYTES = 1024 ** 2;
/** The limit of one sender for one trigger. It holds for loopback too, because a tunnel ends there. */
const RATE: RateLimit = { burst: 60, perSecond: 5, limitsLoopback: true };

interface WebhookContext {
  readonly triggers: Triggers;
  readonly clock: Clock;
}

export const webhookRoutes: Routes<WebhookContext> = (app, { triggers, clock }) => {
  const secondsToWait = createRateLimit(RATE);
  const isOpen = async (request: FastifyRequest, reply: FastifyReply) => {
    const { id } = request.params as { readonly id: string };
    if (triggers.store.secretOf(id) === undefined) return fail(reply, 'NOT_FOUND');
    const seconds = secondsToWait(clientAddress(request.raw), clock.now().getTime(), id);
    if (seconds !== undefined) return fail(reply.header('retry-after', String(seconds)), 'TOO_MANY_REQUESTS');
  };
  void app.register(async (scope: App) => {
    // The signature covers the raw bytes.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES }, (_request, body, done) => done(null, body));
    const schema = { params: ByTrigger, response: { 200: Delivered, 202: Delivered, '4xx': Failure } };
    scope.post('/api/triggers/:id/webhook', { schema, bodyLimit: MAX_BODY_BYTES, onRequest: isOpen }, async (request, reply) =>
      receive(triggers, request.params.id, request, reply),
    );
  });
};

async function receive(triggers: Triggers, id: string, { headers, body }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const [trigger, secret] = [triggers.store.get(id), triggers.store.secretOf(id)];
  if (!trigger || !secret) return fail(reply, 'NOT_FOUND');
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  const proof = proofOf(headers, bytes, secret);
  if (!proof) {
    return reply
      .code(401)
      .send(failureWith('The secret of this trigger is expected: as X-Hub-Signature-256, X-Gitlab-Token or Authorization: Bearer.'));
  }
  if (!trigger.enabled) return reply.code(409).send(failureWith('The trigger is paused.'));
  const task = taskOf(trigger, headers, bytes);
  if (task === undefined) return reply.code(422).send(failureWith('A JSON body is expected: choose the content type application/json.'));
  const key = deliveryName(headers, bytes, proof) ?? `request ${randomUUID()}`;
  return sendAcceptance(reply, await triggers.accept(trigger, { key, name: shownName(headers), task }));
}

/** The task, or the reason why the delivery is ignored; `undefined` when the body of a mention is not JSON. */
function taskOf(trigger: StoredTrigger, headers: FastifyRequest['headers'], body: Buffer): DeliveryTask | string | undefined {
  const { kind, mention: wanted } = trigger;
  if (!wanted) return plainTask(trigger, payloadPrompt(trigger, kind, body.toString('utf8')));
  const payload = parsed(body);
  if (payload === undefined) return undefined;
  const event = String(headers[kind === 'github' ? 'x-github-event' : 'x-gitlab-event'] ?? '');
  const read = kind === 'github' ? readGithubEvent(event, payload, wanted) : readGitlabEvent(event, payload, wanted);
  if (!read.ok) return read.reason;
  const { repository } = read.mention;
  const isAnother = trigger.repository !== null && trigger.repository.toLowerCase() !== repository.toLowerCase();
  if (isAnother) return 'it is about another repository';
  return mentionTask(trigger, read.mention);
}

function mentionTask(trigger: StoredTrigger, mention: Mention): DeliveryTask {
  const { repository, number, isPullRequest } = mention;
  const git_provider = trigger.kind === 'github' ? 'github' : 'gitlab';
  return {
    content: mentionPrompt(trigger, mention),
    repository,
    branch: trigger.branch ?? mention.branch,
    git_provider,
    post_to: trigger.posts_result ? { git_provider, repository, number, is_pull_request: isPullRequest } : null,
  };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
