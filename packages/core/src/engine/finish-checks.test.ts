import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ChangeAgentStateAction, isAction, isObservation, type Event } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { bash, done, ID, outline, stage, systemClock, temporaryFolder } from '../conversation/conversation.test-support.ts';
import { createHostRuntimes } from '../conversation/host-runtimes.test-support.ts';
import type { LlmRequest } from '../llm/llm-provider.ts';
import type { ScriptedStep } from '../llm/scripted-provider.ts';
import { createMemoryStorage } from '../storage/index.ts';

const isCheck = (event: Event): boolean => isAction(event) && event.action === 'run' && event.source === 'environment';
const isFailed = (event: Event): boolean =>
  isObservation(event) && event.observation === 'error' && event.extras.error_id === 'AGENT_ERROR$CHECKS_FAILED';

function model(steps: readonly ScriptedStep[]) {
  const seen: LlmRequest[] = [];
  const script = (asked: LlmRequest): ScriptedStep => {
    seen.push(asked);
    return steps[seen.length - 1] ?? done;
  };
  return { seen, script };
}

it('EN860: what the user wants to pass is run before the task counts as finished, and its output stands in the log', async () => {
  const { seen, script } = model([done]);
  const { say, untilState, events } = await stage({ script, settings: { finishChecks: ['echo first', 'echo second'] } });
  await say('begin');
  await untilState('finished');
  const log = await events();
  const from = log.findIndex((event) => isAction(event) && event.action === 'finish');
  expect(outline(log.slice(from))).toEqual([
    'agent finish',
    'environment run',
    'environment run',
    `environment .run<${from + 1}`,
    `environment .run<${from + 2}`,
    'environment .agent_state_changed:finished',
  ]);
  expect(seen).toHaveLength(1);
});

it('EN861: an agent whose checks fail reads their output and goes on, and ends when they pass', async () => {
  const { seen, script } = model([done, bash('touch made'), done]);
  const { say, untilState, events, folder } = await stage({
    script,
    settings: { finishChecks: ['test -e made || { echo nothing was made; exit 3; }'] },
  });
  await say('begin');
  await untilState('finished');
  expect(existsSync(join(folder, 'made'))).toBe(true);
  const shown = JSON.stringify(seen[1]!.messages);
  for (const words of ['nothing was made', '$ test -e made', 'exit code 3', 'Not finished']) expect(shown).toContain(words);
  expect((await events()).filter(isFailed)).toHaveLength(1);
});

it('EN861: the second end counts, and says that checks fail', async () => {
  const { seen, script } = model([done, done, done, done]);
  const { say, untilState, events } = await stage({ script, settings: { finishChecks: ['exit 1'] } });
  await say('begin');
  await untilState('finished');
  expect(seen).toHaveLength(2);
  expect((await events()).filter(isCheck)).toHaveLength(2);
  expect((await events()).filter(isFailed).at(-1)).toMatchObject({ content: expect.stringContaining('though checks fail') as string });
  const from = (await events()).length;
  await say('again');
  await untilState('finished', from);
  expect((await events()).filter(isCheck)).toHaveLength(4);
});

it('EN860: a stop ends a check that runs', async () => {
  const { script } = model([done]);
  const { say, submit, until, untilOutput, untilState } = await stage({ script, settings: { finishChecks: ['echo begun; sleep 600'] } });
  await say('begin');
  await untilOutput('begun');
  await submit(ChangeAgentStateAction.create({ agent_state: 'stopped' }));
  await untilState('stopped');
  expect(await until((event) => isObservation(event) && event.source === 'environment' && event.cause !== undefined)).toBeDefined();
});

it('EN860: a process that goes on from the log runs no check twice', async () => {
  const log = await createMemoryStorage({ clock: systemClock }).events.open(ID);
  const folder = temporaryFolder();
  const runtimes = createHostRuntimes(folder);
  const settings = { finishChecks: ['echo begun >> counted; sleep 1; echo ended >> counted'] };
  const first = await stage({ script: model([done]).script, log, folder, runtimes, settings });
  await first.say('begin');
  await first.until(isCheck);
  await first.conversation.close();
  const next = await stage({ script: model([]).script, log, folder, runtimes, settings });
  next.conversation.wake();
  await next.untilState('finished');
  expect((await next.events()).filter(isCheck)).toHaveLength(1);
  expect(runtimes.started.length).toBeLessThanOrEqual(1);
});
