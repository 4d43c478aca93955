import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ChangeAgentStateAction, type ConfirmationRule, type Event, isAction, MessageAction } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { codeActAgent } from '../../agents/code-act-agent.ts';
import type { Clock } from '../../async/clock.ts';
import type { ConfirmationSettings } from '../../policy/confirmation-policy.ts';
import { legalityProblems } from '../../prompt/legal-request.test-support.ts';
import { projectMessages } from '../../prompt/project-messages.test-support.ts';
import { bash, done, stage, temporaryFolder } from '../conversation.test-support.ts';
import { createHostRuntimes } from '../host-runtimes.test-support.ts';

const asking = { settings: { confirmation: () => ({ mode: 'always', rules: [], analyzer: 'rules' }) as const } };
const decide = (agent_state: 'user_confirmed' | 'user_rejected', more: { thought?: string; edited?: string }) =>
  ChangeAgentStateAction.create({ agent_state, ...more });

it('TR714: the reason of a rejection is in the log, and the model reads it and goes on', async () => {
  const on = await stage({ ...asking, script: [bash('echo one'), done] });
  await on.say('begin');
  await on.untilState('awaiting_user_confirmation');
  await on.submit(decide('user_rejected', { thought: 'use the staging host' }));
  await on.untilState('finished');
  const log = await on.events();
  expect(log.find((event) => 'observation' in event && event.observation === 'user_rejected')).toMatchObject({
    content: 'The user rejected this action. It was not executed. Their reason: use the staging host',
  });
  expect(JSON.stringify(projectMessages(log, codeActAgent))).toContain('use the staging host');
});

it('TR715: a command that was changed before it was approved runs as it was changed, and the model reads so', async () => {
  const on = await stage({ ...asking, script: [bash('echo one'), done] });
  await on.say('begin');
  await on.untilState('awaiting_user_confirmation');
  expect(await on.submit(decide('user_confirmed', { edited: 'echo two' }))).toMatchObject({ ok: true });
  await on.untilState('finished');
  const log = await on.events();
  const ran = log.filter((event) => 'observation' in event && event.observation === 'run');
  expect(ran).toMatchObject([{ content: 'two', extras: { command: 'echo two' } }]);
  expect(log.find((event) => 'action' in event && event.action === 'message' && event.id > 5)).toMatchObject({
    source: 'user',
    args: { content: expect.stringContaining('\necho two') },
  });
  const messages = projectMessages(log, codeActAgent);
  expect(legalityProblems(messages)).toEqual([]);
  expect(JSON.stringify(messages)).toContain('I changed what you wanted to run');
});

it('TR910: a changed command that a rule denies is refused with the reason, and the action goes on waiting; what only asks runs', async () => {
  const rules: ConfirmationRule[] = [
    { decision: 'deny', command: 'touch' },
    { decision: 'ask', command: 'echo' },
  ];
  // Without anybody there it would be denied, but who changed it is there.
  const waits = { mode: 'always', rules, analyzer: 'rules', isUnattended: false };
  const confirmation = () => waits as ConfirmationSettings;
  const on = await stage({ settings: { confirmation }, script: [bash('echo one'), done] });
  await on.say('begin');
  await on.untilState('awaiting_user_confirmation');
  const before = await on.events();
  waits.isUnattended = true;
  expect(await on.submit(decide('user_confirmed', { edited: 'echo x; "to"uch made' }))).toMatchObject({
    ok: false,
    error: { code: 'EDIT_DENIED', message: expect.stringContaining('a rule denies `touch`') as string },
  });
  expect(await on.events()).toEqual(before);
  expect(await on.submit(decide('user_confirmed', { edited: 'echo two' }))).toMatchObject({ ok: true });
  await on.untilState('finished');
  expect(existsSync(join(on.folder, 'made'))).toBe(false);
  expect((await on.events()).filter((event) => 'observation' in event && event.observation === 'run')).toMatchObject([{ content: 'two' }]);
});

it('TR715: approved with the same text it is as if it had not been changed; what has no text to change is refused', async () => {
  const create = { name: 'str_replace_editor', arguments: { command: 'create', path: '/workspace/a', file_text: 'x' } };
  const on = await stage({ ...asking, script: [bash('echo one'), { toolCalls: [create] }, done] });
  await on.say('begin');
  const { id } = await on.untilState('awaiting_user_confirmation');
  await on.submit(decide('user_confirmed', { edited: 'echo one' }));
  await on.untilState('awaiting_user_confirmation', id + 1);
  expect((await on.events()).filter((event) => 'action' in event && event.action === 'message')).toHaveLength(1);
  expect(await on.submit(decide('user_confirmed', { edited: 'y' }))).toMatchObject({ ok: false, error: { code: 'INVALID_ARGUMENTS' } });
});

it('TR716: where nobody is there to decide, what would wait is denied with a reason, and the agent goes on', async () => {
  const settings = { confirmation: () => ({ mode: 'always', rules: [], analyzer: 'rules', isUnattended: true }) as const };
  const on = await stage({ settings, script: [bash('echo one'), done] });
  await on.say('begin');
  await on.untilState('finished');
  expect(on.runtimes.started.length).toBeLessThanOrEqual(1);
  expect((await on.events()).filter((event) => 'observation' in event && event.observation === 'error')).toMatchObject([
    { content: expect.stringContaining('nobody is there to decide') },
  ]);
});

it('TR719: what nobody decides about in time is rejected, and the agent goes on with the reason', async () => {
  const { waits, clock } = steppedClock();
  const settings = { confirmation: () => ({ mode: 'always', rules: [], analyzer: 'rules', deadlineMs: 60_000_000 }) as const };
  const on = await stage({ settings, clock, script: [bash('echo one'), bash('echo two'), done] });
  const deadlines = () => waits.filter(({ ms }) => ms > 30_000_000);
  await on.say('begin');
  const { id } = await on.untilState('awaiting_user_confirmation');
  await expect.poll(() => deadlines().length).toBe(1);
  expect(on.conversation.isAtWork).toBe(true);
  await on.submit(decide('user_confirmed', {}));
  await on.untilState('awaiting_user_confirmation', id + 1);
  // The decision ended the first wait; the second action has one of its own.
  await expect.poll(() => deadlines().map(({ signal }) => signal.aborted)).toEqual([true, false]);
  deadlines()[1]!.end();
  await on.untilState('finished');
  const log = await on.events();
  expect(log.filter((event) => 'observation' in event && event.observation === 'run')).toMatchObject([{ content: 'one' }]);
  expect(log.find((event) => 'observation' in event && event.observation === 'user_rejected')).toMatchObject({
    content: expect.stringContaining('nobody decided about this action within 60000 seconds'),
  });
  expect(log.filter((event) => 'action' in event && event.action === 'change_agent_state')).toHaveLength(1);
  expect(legalityProblems(projectMessages(log, codeActAgent))).toEqual([]);
});

it('TR719: who approves in time is not too late because the sandbox takes until after it to start', async () => {
  const { waits, clock } = steppedClock();
  const settings = { confirmation: () => ({ mode: 'always', rules: [], analyzer: 'rules', deadlineMs: 60_000_000 }) as const };
  const folder = temporaryFolder();
  const host = createHostRuntimes(folder);
  const starting = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let isSlow = false;
  const acquire: typeof host.acquire = async (...given) => {
    if (isSlow) {
      asked.resolve();
      await starting.promise;
    }
    return host.acquire(...given);
  };
  const on = await stage({ settings, clock, folder, runtimes: { ...host, acquire }, script: [bash('echo one'), done] });
  await on.say('begin');
  await on.untilState('awaiting_user_confirmation');
  await expect.poll(() => waits.filter(({ ms }) => ms > 30_000_000).length).toBe(1);
  host.kill();
  isSlow = true;
  const decision = on.submit(decide('user_confirmed', {}));
  await asked.promise;
  waits.find(({ ms }) => ms > 30_000_000)!.end();
  starting.resolve();
  expect(await decision).toMatchObject({ ok: true });
  await on.untilState('finished');
  const observed = (await on.events()).flatMap((event) => ('observation' in event ? [event.observation] : []));
  expect(observed).toContain('run');
  expect(observed).not.toContain('user_rejected');
});

it('TR715: an approval is of the action that waited when it was given, and of no other', async () => {
  const folder = temporaryFolder();
  const host = createHostRuntimes(folder);
  const starting = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let isSlow = false;
  const acquire: typeof host.acquire = async (...given) => {
    if (isSlow) {
      isSlow = false;
      asked.resolve();
      await starting.promise;
    }
    return host.acquire(...given);
  };
  const on = await stage({ ...asking, folder, runtimes: { ...host, acquire }, script: [bash('echo one'), bash('echo two'), done] });
  await on.say('begin');
  const { id } = await on.untilState('awaiting_user_confirmation');
  host.kill();
  isSlow = true;
  const approval = on.submit(decide('user_confirmed', {}));
  await asked.promise;
  await on.submit(decide('user_rejected', { thought: 'something else' }));
  await on.untilState('awaiting_user_confirmation', id + 1);
  starting.resolve();
  expect(await approval).toMatchObject({ ok: false, error: { code: 'ILLEGAL_STATE' } });
  expect(on.conversation.state.agentState).toBe('awaiting_user_confirmation');
});

/** Its waits end when a test says so. */
function steppedClock() {
  const waits: { readonly ms: number; readonly end: () => void; readonly signal: AbortSignal }[] = [];
  const clock: Clock = {
    now: () => new Date(),
    sleep: (ms, { signal }) =>
      new Promise((resolve, reject) => {
        waits.push({ ms, end: resolve, signal });
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      }),
  };
  return { waits, clock };
}

it('SV1000: a verdict or a reply that names its event is about nothing else, however late it is heard', async () => {
  const on = await stage({ ...asking, script: [bash('echo one'), bash('echo two'), { text: 'Which?' }, done] });
  await on.say('begin');
  await on.untilState('awaiting_user_confirmation');
  const first = waitingAction(await on.events());
  expect(await on.conversation.submit(decide('user_confirmed', {}), first)).toMatchObject({ ok: true });
  await expect
    .poll(async () => waitingAction(await on.events()) > first && on.conversation.state.agentState === 'awaiting_user_confirmation')
    .toBe(true);
  const before = await on.events();
  for (const late of [decide('user_confirmed', {}), decide('user_confirmed', { edited: 'echo three' }), decide('user_rejected', {})])
    expect(await on.conversation.submit(late, first)).toMatchObject({ ok: false, error: { code: 'ILLEGAL_STATE' } });
  expect(await on.events()).toEqual(before);

  await on.conversation.submit(decide('user_confirmed', {}), waitingAction(before));
  await expect.poll(() => on.conversation.state.agentState).toBe('awaiting_user_input');
  const question = (await on.events()).findLast((event) => 'action' in event && event.action === 'message')!.id;
  const reply = (content: string) => on.conversation.submit(MessageAction.create({ content }), question);
  expect(await reply('this one')).toMatchObject({ ok: true });
  expect(await reply('that one')).toMatchObject({ ok: false, error: { code: 'ILLEGAL_STATE' } });
});

/** The newest of those that wait for a person. */
function waitingAction(events: readonly Event[]): number {
  return events.findLast((event) => isAction(event) && event.args.confirmation_state === 'awaiting_confirmation')?.id ?? -1;
}
