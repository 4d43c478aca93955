import { randomBytes } from 'node:crypto';
import {
  CreatedTrigger,
  CreateTrigger,
  Delivered,
  DeliveryList,
  DeliveryQuery,
  Failure,
  FireTrigger,
  Revoked,
  TriggerInfo,
  TriggerList,
  UpdateTrigger,
} from '@tendon/protocol';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { ownedBy } from '../conversations/new-conversations.ts';
import type { OwnedGitAccounts } from '../git-providers/owned-git-accounts.ts';
import { ownedByCaller } from '../platform/auth/own-scope.ts';
import type { Caller } from '../platform/auth/caller.ts';
import type { App, Routes } from '../platform/http/app.ts';
import { fail, failureWith } from '../platform/http/failure.ts';
import { IdempotencyHeaders, optionalBody } from '../platform/http/request-parts.ts';
import { checkTrigger } from './check-trigger.ts';
import { deliveryInfo, triggerInfo } from './trigger-info.ts';
import { MAX_TRIGGERS, type NewTrigger, type StoredTrigger } from './trigger-store.ts';
import type { Acceptance, Triggers } from './triggers.ts';

export interface TriggerContext {
  readonly triggers: Triggers;
  readonly gitAccounts: Pick<OwnedGitAccounts, 'of'>;
}

export const ByTrigger = z.object({ id: z.string().max(100) });
const FAILED = { 404: Failure, 409: Failure, 422: Failure, 429: Failure };

/** Triggers, and the deliveries of each. */
export const triggerRoutes: Routes<TriggerContext> = (app, { triggers, gitAccounts }) => {
  const seen: Seen = (by, id) => {
    const trigger = triggers.store.get(id);
    return trigger && seesTrigger(by, trigger) ? trigger : undefined;
  };

  app.get('/api/triggers', { schema: { response: { 200: TriggerList } } }, async ({ principal }) => ({
    triggers: triggers.store.list.filter((one) => seesTrigger(principal, one)).map(triggerInfo),
  }));

  app.post(
    '/api/triggers',
    { schema: { body: CreateTrigger, response: { 201: CreatedTrigger, ...FAILED } } },
    async ({ body, principal }, reply) => {
      const checked = checkTrigger(body, gitAccounts.of(ownedByCaller(principal)));
      if (!checked.ok) return reply.code(422).send(failureWith(checked.problem));
      const secret = body.kind === 'schedule' ? undefined : (body.secret ?? randomBytes(32).toString('base64url'));
      const trigger = await triggers.store.create({ ...checked.trigger, ...ownedBy(principal) }, secret);
      if (!trigger)
        return reply.code(409).send(failureWith(`There are ${MAX_TRIGGERS} triggers, as many as there may be. Remove one first.`));
      triggers.schedules.changed();
      return reply
        .code(201)
        .header('cache-control', 'no-store')
        .send({ ...triggerInfo(trigger), secret: secret ?? null });
    },
  );

  app.get(
    '/api/triggers/:id',
    { schema: { params: ByTrigger, response: { 200: TriggerInfo, ...FAILED } } },
    async ({ params, principal }, reply) => {
      const trigger = seen(principal, params.id);
      return trigger ? triggerInfo(trigger) : fail(reply, 'NOT_FOUND');
    },
  );

  const changing = { params: ByTrigger, body: UpdateTrigger, response: { 200: TriggerInfo, ...FAILED } };
  app.patch('/api/triggers/:id', { schema: changing }, async ({ params: { id }, body, principal }, reply) => {
    const stored = seen(principal, id);
    if (!stored) return fail(reply, 'NOT_FOUND');
    const checked = checkTrigger(paramsOf({ ...stored, ...body }), gitAccounts.of(stored));
    if (!checked.ok) return reply.code(422).send(failureWith(checked.problem));
    // Skip ticks that were missed while it was paused, and those of the earlier schedule.
    const isAnew = body.schedule !== undefined || (body.enabled === true && !stored.enabled);
    const { enabled = stored.enabled } = body;
    const handled = isAnew ? { handled_until: triggers.now() } : {};
    const changed = await triggers.store.change(id, () => ({ ...checked.trigger, post_to: stored.post_to, enabled, ...handled }));
    triggers.schedules.changed();
    return changed ? triggerInfo(changed) : fail(reply, 'NOT_FOUND');
  });

  app.delete(
    '/api/triggers/:id',
    { schema: { params: ByTrigger, response: { 200: Revoked, ...FAILED } } },
    async ({ params: { id }, principal }, reply) =>
      seen(principal, id) && (await triggers.delete(id)) ? { revoked: true as const } : fail(reply, 'NOT_FOUND'),
  );

  deliveryRoutes(app, triggers, seen);
};

type Seen = (by: Caller, id: string) => StoredTrigger | undefined;

function deliveryRoutes(app: App, triggers: Triggers, seen: Seen): void {
  const firing = {
    headers: IdempotencyHeaders,
    params: ByTrigger,
    body: optionalBody(FireTrigger),
    response: { 202: Delivered, ...FAILED },
  };
  app.post('/api/triggers/:id/fire', { schema: firing }, async ({ params, body, headers, principal }, reply) => {
    const trigger = seen(principal, params.id);
    if (!trigger) return fail(reply, 'NOT_FOUND');
    const key = headers['idempotency-key'];
    return sendAcceptance(reply, await triggers.fire(trigger, body.text, key && `fired ${key}`));
  });

  const listing = { params: ByTrigger, querystring: DeliveryQuery, response: { 200: DeliveryList, ...FAILED } };
  app.get('/api/triggers/:id/deliveries', { schema: listing }, async ({ params: { id }, query: { limit }, principal }, reply) => {
    if (!seen(principal, id)) return fail(reply, 'NOT_FOUND');
    return { deliveries: (await triggers.deliveries.list(id, limit)).map(deliveryInfo) };
  });
}

/** A user sees the triggers of the organisation in which they act; a key of no user sees all. */
function seesTrigger({ userId, organisationId }: Caller, { organisation_id }: StoredTrigger): boolean {
  return userId === undefined || (organisationId !== undefined && organisation_id === organisationId);
}

/** Answers 202 when the delivery is carried out, 200 when it is ignored or a repetition. */
export function sendAcceptance(reply: FastifyReply, acceptance: Acceptance): FastifyReply {
  if (acceptance.state === 'gone') return fail(reply, 'NOT_FOUND');
  if (acceptance.state === 'limited') {
    return reply.code(429).header('retry-after', '600').send(failureWith('The trigger has fired as often in the last hour as it may.'));
  }
  const { delivery, isRepeated: repeated } = acceptance;
  const code = repeated || delivery.state === 'ignored' ? 200 : 202;
  return reply.code(code).send({ ...deliveryInfo(delivery), repeated });
}

function paramsOf({ repository, branch, agent, git_provider, mention, schedule, ...trigger }: NewTrigger): CreateTrigger {
  const provider = git_provider as CreateTrigger['git_provider'];
  return { ...trigger, repository, branch, agent, git_provider: provider, ...(mention && { mention }), ...(schedule && { schedule }) };
}
