import { isAction, isObservation, type Event } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { codeActAgent, withOptionalTools } from '../agents/code-act-agent.ts';
import { bash, done, isSummaryRequest, outline, stage } from '../conversation/conversation.test-support.ts';
import type { LlmRequest } from '../llm/llm-provider.ts';
import type { ScriptedStep } from '../llm/scripted-provider.ts';

const agent = withOptionalTools(codeActAgent, ['request_condensation']);
const call = { name: 'request_condensation', arguments: {} };
const ask: ScriptedStep = { toolCalls: [call] };
const steps = [1, 2, 3, 4, 5, 6].map((n) => bash(`echo step ${n}`));
const isCondensation = (event: Event): boolean => isAction(event) && event.action === 'condensation';

function script(own: readonly ScriptedStep[]) {
  const seen: LlmRequest[] = [];
  let step = 0;
  const play = (asked: LlmRequest): ScriptedStep => {
    seen.push(asked);
    return isSummaryRequest(asked) ? { text: 'Six steps were printed.' } : (own[step++] ?? done);
  };
  return { seen, play };
}

it('EN915: an agent’s request gives the summary before it is asked again', async () => {
  const { seen, play } = script([...steps, ask, done]);
  const { say, untilState, events } = await stage({ script: play, agent });
  await say('keep these words');
  await untilState('finished');
  expect(outline(await events()).slice(-5)).toEqual([
    'agent condensation_request',
    'agent condensation',
    expect.stringMatching(/^environment \.condense</),
    'agent finish',
    'environment .agent_state_changed:finished',
  ]);
  const text = JSON.stringify(seen.at(-1)!.messages);
  for (const words of ['Six steps were printed.', 'keep these words']) expect(text).toContain(words);
  expect(text).not.toContain('echo step 1');
});

it('EN915: what the same answer does beside it is done first', async () => {
  const beside = { toolCalls: [call, ...bash('echo beside').toolCalls!] };
  const { play } = script([...steps, beside, done]);
  const { say, untilState, events } = await stage({ script: play, agent });
  await say('begin');
  await untilState('finished');
  const all = await events();
  const ran = all.findIndex((event) => isObservation(event) && event.content.includes('beside'));
  expect(ran).toBeGreaterThan(0);
  expect(all.findIndex(isCondensation)).toBeGreaterThan(ran);
});

it('EN915: one that asks again and again is refused, without another request to the model', async () => {
  const { seen, play } = script([...steps, ask, ask, ask, done]);
  const { say, untilState, events } = await stage({ script: play, agent });
  await say('begin');
  await untilState('finished');
  const all = await events();
  expect(all.filter(isCondensation)).toHaveLength(1);
  expect(seen.filter(isSummaryRequest)).toHaveLength(1);
  expect(JSON.stringify(seen.at(-1)!.messages)).toContain('Too little has happened');
});
