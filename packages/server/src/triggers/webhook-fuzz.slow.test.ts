import * as fc from 'fast-check';
import { itInFull, runs } from '@tendon/testing';
import { expect, it } from 'vitest';
import { systemClock } from '../platform/system-clock.ts';
import { fuzzTarget } from '../fuzz/fuzz-target.test-support.ts';
import { hostileValue, SEED } from '../fuzz/hostile-values.test-support.ts';
import { addTrigger, conversationCount, deliveriesOf, signed } from './triggers.test-support.ts';

const EVENTS = ['issue_comment', 'issues', 'pull_request_review_comment', 'ping', 'push', '', '__proto__'];
const HEADERS = [
  'x-gitlab-token',
  'x-gitlab-event',
  'x-hub-signature-256',
  'x-github-event',
  'x-github-delivery',
  'authorization',
  'idempotency-key',
];

/** What a hostile sender of a real provider could make of an event: any part of it is anything. */
const payload = fc.record(
  {
    action: fc.oneof(fc.constantFrom('created', 'labeled', 'opened'), hostileValue),
    object_kind: fc.oneof(fc.constant('note'), hostileValue),
    repository: fc.oneof(
      fc.record({ full_name: fc.oneof(fc.constant('ann/tools'), fc.constant('../../etc'), hostileValue) }),
      hostileValue,
    ),
    sender: fc.oneof(fc.record({ login: hostileValue }), hostileValue),
    issue: fc.oneof(fc.record({ number: fc.oneof(fc.constant(1), hostileValue), title: hostileValue, body: hostileValue }), hostileValue),
    pull_request: hostileValue,
    label: hostileValue,
    comment: fc.oneof(fc.record({ body: fc.oneof(fc.constant('@tendon'), hostileValue), user: hostileValue }), hostileValue),
    object_attributes: hostileValue,
  },
  { requiredKeys: [] },
);

/** A clock of its own, which jumps: no sender is limited by address. */
function leapingClock() {
  let now = Date.now();
  return { ...systemClock, now: () => new Date((now += 1_000)) };
}

it(
  'TG910: whatever a sender without the secret brings is refused in words, and nothing of it is stored',
  { timeout: 300_000 },
  async () => {
    const target = await fuzzTarget({}, { clock: leapingClock() });
    const trigger = await addTrigger(target, { kind: 'github' });
    const before = await conversationCount(target);
    const value = fc.string({ maxLength: 300 }).map((text) => text.replaceAll(/[^\x20-\x7e]/g, '?'));
    const headers = fc.dictionary(fc.constantFrom(...HEADERS), value);
    const type = fc.constantFrom(
      'application/json',
      'text/plain',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded',
      'x',
    );
    const property = fc.asyncProperty(
      headers,
      type,
      fc.oneof(fc.json(), fc.string({ maxLength: 5_000 })),
      async (given, contentType, body) => {
        const answer = await fetch(target.url + trigger.path, { method: 'POST', headers: { ...given, 'content-type': contentType }, body });
        expect([401, 415, 429]).toContain(answer.status);
        expect(await answer.json()).toMatchObject({ message: expect.any(String) as string });
      },
    );
    await fc.assert(property, { numRuns: runs(200), seed: SEED, endOnFailure: true });
    expect(await deliveriesOf(target, trigger)).toEqual([]);
    expect(await conversationCount(target)).toBe(before);
    await target.expectUnharmed();
  },
);

itInFull('TG910: a signed payload of any shape is answered below 500', { timeout: 300_000 }, async () => {
  const target = await fuzzTarget({}, { clock: leapingClock() });
  const kinds = [{ kind: 'github' }, { kind: 'gitlab', mention: { allowed_users: ['bob'] } }];
  const triggers = await Promise.all(kinds.map((params) => addTrigger(target, { ...params, posts_result: false, max_per_hour: 1 })));
  const property = fc.asyncProperty(
    fc.constantFrom(...triggers),
    fc.constantFrom(...EVENTS),
    fc.oneof(payload, hostileValue),
    async (trigger, event, drawn) => {
      const body = JSON.stringify(drawn) ?? '';
      const gitlab = { 'x-gitlab-event': 'Note Hook' };
      const headers = { ...signed(trigger, body, event), ...(trigger.kind === 'gitlab' && gitlab), 'content-type': 'application/json' };
      const answer = await fetch(target.url + trigger.path, { method: 'POST', headers, body });
      expect(answer.status, body.slice(0, 500)).toBeLessThan(500);
    },
  );
  await fc.assert(property, { numRuns: runs(300), seed: SEED, endOnFailure: true });
  await target.expectUnharmed();
});
