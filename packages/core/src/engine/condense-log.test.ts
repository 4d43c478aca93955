import { CondensationRequestAction, isAction } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { bash, done, isSummaryRequest, outline, stage } from '../conversation/conversation.test-support.ts';
import type { LlmRequest } from '../llm/llm-provider.ts';
import { createScriptedProvider, type ScriptedStep } from '../llm/scripted-provider.ts';

const request = CondensationRequestAction.create({});

/** Steps for the agent, by the number of its answers so far, and one for a request for a summary. */
function script(steps: readonly ScriptedStep[], summary: ScriptedStep) {
  const seen: LlmRequest[] = [];
  let step = 0;
  const play = (asked: LlmRequest): ScriptedStep => {
    seen.push(asked);
    return isSummaryRequest(asked) ? summary : (steps[step++] ?? done);
  };
  return { seen, script: play };
}

const work = Array.from({ length: 6 }, (_, index) => bash(`echo step ${index}`));

it('EN130: a client’s request has the older part put into words, which stand in its place from then on', async () => {
  const { seen, script: play } = script([...work, done, done], { text: 'Six steps were printed.' });
  const { say, submit, until, untilState, events } = await stage({ script: play });
  await say('keep these words');
  await untilState('finished');
  await submit(request);
  const condensation = await until((event) => isAction(event) && event.action === 'condensation');
  expect(outline(await events()).slice(condensation.id)).toEqual(['agent condensation', `environment .condense<${condensation.id}`]);
  await say('go on');
  await untilState('finished', condensation.id);
  const text = JSON.stringify(seen.at(-1)!.messages);
  for (const words of ['Six steps were printed.', 'keep these words', 'go on']) expect(text).toContain(words);
  expect(text).not.toContain('echo step 0');
});

it('EN131: a conversation that is too short says so', async () => {
  const { submit, until } = await stage();
  await submit(request);
  expect(await until((event) => 'observation' in event && event.observation === 'error')).toMatchObject({
    extras: { error_id: 'AGENT_ERROR$NOT_CONDENSED' },
  });
});

it('EN132: a request that the model finds too long is condensed and made again', async () => {
  const { script: play } = script([...work, { failure: 'LLM_CONTEXT_EXCEEDED' }, done], { text: 'In short.' });
  const { say, untilState, events } = await stage({ script: play });
  await say('begin');
  await untilState('finished');
  expect(outline(await events()).slice(-5)).toEqual([
    'agent condensation_request',
    'agent condensation',
    expect.stringMatching(/^environment \.condense</),
    'agent finish',
    'environment .agent_state_changed:finished',
  ]);
});

it('EN133: what is nearly full is condensed before it is too long, unless the user wants it otherwise', async () => {
  for (const condenses of [true, false]) {
    const full = work.map((step) => ({ ...step, usage: { inputTokens: 900 } }));
    const provider = { ...createScriptedProvider(script([...full, done], { text: 'In short.' }).script), contextWindow: 1000 };
    const { say, untilState, events } = await stage({ provider, settings: { condenses } });
    await say('begin');
    await untilState('finished');
    expect(outline(await events()).includes('agent condensation')).toBe(condenses);
  }
});

it('EN160: so many events as the user has set are condensed, whatever the window', async () => {
  for (const [condensesAfter, expected] of [
    [20, true],
    [200, false],
  ] as const) {
    const { script: play } = script([...work, ...work, done], { text: 'In short.' });
    const { say, untilState, events } = await stage({ script: play, settings: { condensesAfter } });
    await say('begin');
    await untilState('finished');
    expect(outline(await events()).includes('agent condensation')).toBe(expected);
  }
});

it('EN134: a model that gives no summary costs the summary and not the way on', async () => {
  const { script: play } = script([...work, { failure: 'LLM_CONTEXT_EXCEEDED' }, done], { failure: 'LLM_FAILED', retryable: false });
  const { say, untilState, until } = await stage({ script: play });
  await say('begin');
  await untilState('finished');
  expect(await until((event) => isAction(event) && event.action === 'condensation')).toMatchObject({ args: { summary: null } });
});

it('EN135: a second condensation is made from the first one’s summary and what came after it', async () => {
  const { seen, script: play } = script([...work, done, ...work, done], { text: 'What came before.' });
  const { say, submit, until, untilState } = await stage({ script: play });
  await say('begin');
  await untilState('finished');
  await submit(request);
  const { id } = await until((event) => isAction(event) && event.action === 'condensation');
  await say('again');
  await untilState('finished', id);
  await submit(request);
  await until((event) => isAction(event) && event.action === 'condensation', id + 1);
  const text = JSON.stringify(seen.filter(isSummaryRequest).at(-1)!.messages);
  expect(text).toContain('What came before.');
  // Of both runs, the second is still shown.
  expect(text.match(/echo step 0/g)).toHaveLength(1);
});
