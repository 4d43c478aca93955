import { isAction, SuccessObservation, type ConfirmationMode, type ConfirmationRule } from '@tendon/protocol';
import { expect, it } from 'vitest';
import type { Hooks } from '../../engine/host-capabilities.ts';
import { createScriptedProvider } from '../../llm/scripted-provider.ts';
import { bash, done, stage, type Stage } from '../conversation.test-support.ts';

const notice = { source: 'environment', ...SuccessObservation.create('another policy', {}) } as const;
const runs = async ({ events }: Stage) =>
  (await events()).flatMap((event) => (isAction(event) && event.action === 'run' ? [event.args] : []));

it('EN1050: after a change of the policy what waits and is allowed by now runs, and what is still asked about waits on', async () => {
  let mode: ConfirmationMode = 'always';
  const rules: ConfirmationRule[] = [];
  const calls = ['echo one', 'echo two', 'touch three', 'echo four'].flatMap((command) => bash(command).toolCalls);
  const on = await stage({
    script: [{ toolCalls: calls }, done],
    settings: { confirmation: () => ({ mode, rules, analyzer: 'rules' }) },
  });
  await on.say('begin');
  await on.untilState('awaiting_user_confirmation');
  const asked = await runs(on);
  await on.conversation.judgeAgain(notice);
  expect(await runs(on)).toEqual(asked);
  mode = 'rules';
  rules.push({ decision: 'allow', command: 'echo' });
  const { nextId } = on.conversation.log;
  await on.conversation.judgeAgain(notice);
  await on.untilState('awaiting_user_confirmation', nextId);
  const waiting = { command: 'touch three', confirmation_state: 'awaiting_confirmation' };
  expect((await runs(on)).slice(asked.length)).toMatchObject([
    { command: 'echo one', confirmation_state: 'confirmed' },
    { command: 'echo two', confirmation_state: 'confirmed' },
    waiting,
  ]);
  mode = 'never';
  await Promise.all([on.conversation.judgeAgain(notice), on.conversation.judgeAgain(notice)]);
  await on.untilState('finished');
  const ran = (await on.events()).flatMap((event) => ('observation' in event && event.observation === 'run' ? [event.extras.command] : []));
  expect(ran).toEqual(['echo one', 'echo two', 'touch three', 'echo four']);
});

it('EN1051: a change of the policy goes past no hook, and approves nothing that a rule denies or that is paused', async () => {
  let mode: ConfirmationMode = 'always';
  const rules: ConfirmationRule[] = [];
  const asks: Hooks = {
    has: (moment) => moment === 'before_action',
    refresh: async () => undefined,
    run: async () => ({ decision: 'ask', reason: 'a hook asks', words: [], problems: [] }),
  };
  const settings = { confirmation: () => ({ mode, rules, analyzer: 'rules' as const }) };
  const script = [bash('echo one'), done];
  const hooked = await stage({ script, settings, hooks: asks });
  const denied = await stage({ script, settings });
  const paused = await stage({ script, settings });
  const all = [hooked, denied, paused];
  await Promise.all(all.map((on) => on.say('begin').then(() => on.untilState('awaiting_user_confirmation'))));
  await paused.submit({ action: 'pause', args: {} });
  mode = 'never';
  await Promise.all([hooked, paused].map(({ conversation }) => conversation.judgeAgain(notice)));
  rules.push({ decision: 'deny', command: 'echo' });
  await denied.conversation.judgeAgain(notice);
  for (const on of all) expect(await runs(on)).toMatchObject([{ confirmation_state: 'awaiting_confirmation' }]);
});

it('EN1052: what was never analyzed is, once risk decides by an analyzer that is asked: low risk runs, high risk waits, and its cost counts', async () => {
  let mode: ConfirmationMode = 'always';
  const asked: string[] = [];
  const smallLlm = createScriptedProvider(({ messages }) => {
    asked.push(messages.at(-1)!.text);
    return { text: `{"risk":"${messages.at(-1)!.text.includes('curl') ? 'high' : 'low'}"}` };
  });
  const calls = ['echo one', 'curl https://example.com', 'echo three'].flatMap((command) => bash(command).toolCalls);
  const on = await stage({
    script: [{ toolCalls: calls }, done],
    smallLlm: async () => smallLlm,
    settings: { confirmation: () => ({ mode, rules: [], analyzer: 'model' }) },
  });
  await on.say('begin');
  await on.untilState('awaiting_user_confirmation');
  const { nextId, state } = { nextId: on.conversation.log.nextId, state: on.conversation.state };
  mode = 'risk';
  await on.conversation.judgeAgain(notice);
  await on.untilState('awaiting_user_confirmation', nextId);
  expect((await on.events()).slice(nextId).filter((event) => 'observation' in event && event.observation === 'run')).toHaveLength(1);
  expect(on.conversation.state.pending).toMatchObject([
    { args: { command: 'echo three' } },
    { args: { command: 'curl https://example.com' } },
  ]);
  expect(asked).toHaveLength(2);
  const tokens = on.conversation.state.metrics?.accumulated_token_usage.prompt_tokens ?? 0;
  expect(tokens).toBeGreaterThan(state.metrics?.accumulated_token_usage.prompt_tokens ?? 0);
});
