import { CondensationAction, isAction, isObservation, LoopRecoveryAction, type Event } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { bash, done, outline, stage } from '../conversation/conversation.test-support.ts';
import type { LlmRequest } from '../llm/llm-provider.ts';
import type { ScriptedStep } from '../llm/scripted-provider.ts';

const isLoop = (event: Event): boolean => isObservation(event) && event.observation === 'loop_detection';
const textOf = (asked: LlmRequest | undefined): string => JSON.stringify(asked?.messages);

/** Alternates between two commands that fail until it is asked `until` times. */
function circling(until: number) {
  const seen: LlmRequest[] = [];
  const script = (asked: LlmRequest): ScriptedStep => {
    seen.push(asked);
    return seen.length > until ? done : bash(seen.length % 2 ? 'ls /nowhere' : 'ls /neither');
  };
  return { seen, script };
}

it('EN858: before it is halted the agent is given one hint, and where that helps it goes on', async () => {
  const { seen, script } = circling(7);
  const { say, untilState, events } = await stage({ script });
  await say('begin');
  await untilState('finished');
  expect((await events()).filter(isLoop)).toMatchObject([{ extras: { hint: true }, source: 'environment' }]);
  expect(textOf(seen[5])).not.toContain('leads nowhere');
  expect(seen[6]!.messages.at(-1)).toMatchObject({ role: 'user', text: expect.stringContaining('leads nowhere') as string });
});

it('EN859: a halted agent goes on from before the circle, which a person can undo', async () => {
  const { seen, script } = circling(8);
  const { say, submit, until, untilState, events, runtimes } = await stage({ script });
  await say('begin');
  const { id } = await untilState('awaiting_user_input', 5);
  expect(runtimes.started).toHaveLength(8);
  const log = await events();
  expect(outline(log).slice(-3)).toEqual([
    'environment .loop_detection',
    'environment .error',
    'environment .agent_state_changed:awaiting_user_input',
  ]);
  expect(log.at(-3)).toMatchObject({ content: expect.stringContaining('(1) from before that') as string, extras: {} });
  expect(await submit(LoopRecoveryAction.create({ option: 4 }))).toMatchObject({ ok: false });
  expect(await submit(LoopRecoveryAction.create({ option: 1 }))).toMatchObject({ ok: true });
  await untilState('finished', id);
  expect(textOf(seen.at(-1))).not.toContain('/nowhere');
  expect(textOf(seen.at(-1))).toContain('You went in circles here');
  const forgotten = await until((event) => isAction(event) && event.action === 'condensation', id);
  expect(await submit(CondensationAction.create({ undoes: forgotten.id }))).toMatchObject({ ok: true });
  const from = (await events()).length;
  await say('again');
  await untilState('finished', from);
  expect(textOf(seen.at(-1))).toContain('/nowhere');
});

it('EN859: from the last message nothing that came after it is shown, and a third choice stops', async () => {
  const { seen, script } = circling(8);
  const first = await stage({ script });
  expect(await first.submit(LoopRecoveryAction.create({ option: 1 }))).toMatchObject({ ok: false, error: { code: 'ILLEGAL_STATE' } });
  await first.say('begin with this');
  const { id } = await first.untilState('awaiting_user_input', 5);
  await first.submit(LoopRecoveryAction.create({ option: 2 }));
  await first.untilState('finished', id);
  expect(textOf(seen.at(-1))).toContain('begin with this');
  expect(seen.at(-1)!.messages.filter(({ role }) => role === 'tool')).toEqual([]);

  const second = await stage({ script: circling(8).script });
  await second.say('begin');
  await second.untilState('awaiting_user_input', 5);
  await second.submit(LoopRecoveryAction.create({ option: 3 }));
  await second.untilState('stopped');
});

itInFull('EN857: what one answer does many times is one step, because the model saw no hint in between', async () => {
  const look = { name: 'execute_bash', arguments: { command: 'ls /nowhere' } };
  const seen: LlmRequest[] = [];
  const script = (asked: LlmRequest): ScriptedStep => (seen.push(asked) > 3 ? done : { toolCalls: Array.from({ length: 8 }, () => look) });
  const { say, untilState, events } = await stage({ script });
  await say('begin');
  await untilState('finished');
  expect((await events()).filter(isLoop)).toMatchObject([{ extras: { hint: true } }]);
  expect(textOf(seen[2])).not.toContain('leads nowhere');
  expect(textOf(seen[3])).toContain('leads nowhere');
});
