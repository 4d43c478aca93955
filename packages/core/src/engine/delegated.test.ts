import { ChangeAgentStateAction } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { codeActAgent } from '../agents/code-act-agent.ts';
import { done, outline, stage, systemClock } from '../conversation/conversation.test-support.ts';
import { StorageError } from '../log/storage-error.ts';
import { delegateTo } from '../tools/delegate.ts';
import type { DelegatedTask, Delegate } from './host-capabilities.ts';

const agent = { ...codeActAgent, tools: [...codeActAgent.tools, delegateTo([])] };
const ask = { costUsd: 0.5, toolCalls: [{ name: 'delegate', arguments: { task: 'count the files' } }] };

it('EN137: a part of the work is given away, and its report is the answer', async () => {
  const asked: DelegatedTask[] = [];
  const answer: Delegate = async (task) => {
    asked.push(task);
    return { ok: true, report: 'there are three', outputs: { content: 'there are three' }, costUsd: 0.25, unpricedTokens: 12 };
  };
  const { say, untilState, events } = await stage({ agent, delegate: answer, script: [ask, done] });
  await say('begin');
  await untilState('finished');
  const log = await events();
  const action = log.find((event) => 'action' in event && event.action === 'delegate')!;
  expect(asked).toEqual([{ actionId: action.id, agent: 'CodeActAgent', task: 'count the files', leftSteps: 499, leftUsd: undefined }]);
  expect(log[action.id + 1]).toMatchObject({
    observation: 'delegate',
    cause: action.id,
    content: 'there are three',
    extras: { outputs: { content: 'there are three' } },
    llm_metrics: { accumulated_cost: 0.75, unpriced_tokens: 12 },
  });
});

it('EN138: a stop ends the other agent’s work too, and the action is answered', async () => {
  const asked = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<void>();
  const answer: Delegate = (_task, { signal }) => {
    asked.resolve();
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => (cancelled.resolve(), resolve({ ok: false, reason: 'cancelled' })));
    });
  };
  const { say, submit, untilState, events } = await stage({ agent, delegate: answer, script: [ask, done] });
  await say('begin');
  await asked.promise;
  await submit(ChangeAgentStateAction.create({ agent_state: 'stopped' }));
  await cancelled.promise;
  await untilState('stopped');
  expect(outline(await events()).slice(-2)).toEqual([expect.stringMatching(/^agent \.error</), 'environment .agent_state_changed:stopped']);
});

it('EN137: where nobody can be asked, the model is informed', async () => {
  const { say, untilState, events } = await stage({ agent, script: [ask, done] });
  await say('begin');
  await untilState('finished');
  expect((await events()).find((event) => 'observation' in event && event.observation === 'error')).toMatchObject({
    content: expect.stringContaining('no other agent') as string,
  });
});

it('EN400: a delegation that the storage had no room for is begun when there is', async () => {
  let tries = 0;
  const answer: Delegate = async () => {
    if (++tries < 3) throw new StorageError('undone', 'the database or disk is full');
    return { ok: true, report: 'there are three', outputs: {}, costUsd: 0 };
  };
  const clock = { ...systemClock, sleep: async () => undefined };
  const { say, untilState, untilFrame, events } = await stage({ agent, delegate: answer, script: [ask, done], clock });
  await say('begin');
  await untilFrame((frame) => frame.volatile === 'status' && frame.message.includes('disk is full'));
  await untilState('finished');
  expect((await events()).filter((event) => 'observation' in event && event.observation === 'delegate')).toMatchObject([
    { content: 'there are three' },
  ]);
});
