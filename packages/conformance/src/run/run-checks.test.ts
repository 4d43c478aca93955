import { answerJson, oddServer } from '@tendon/testing/servers';
import { expect, it } from 'vitest';
import type { Check } from '../check.ts';
import { startScriptedModel } from '../model/scripted-model.ts';
import type { Target } from '../target/target.ts';
import { runChecks } from './run-checks.ts';

it('DL640: checks that share use one conversation in turn, until one of them has failed', async () => {
  const asked: string[] = [];
  const url = await oddServer((request, response) => {
    if (request.method === 'POST') asked.push('opened');
    if (request.method === 'DELETE') asked.push(`removed ${request.url!.split('/').pop()}`);
    answerJson(response, 200, { conversation_id: String(asked.filter((one) => one === 'opened').length) });
  });
  const check = (id: string, shares?: string, fails = false): Check => ({
    id: `v0-rest/${id}`,
    title: id,
    cites: [],
    ...(shares !== undefined && { shares }),
    async run(target) {
      const conversation = await target.shared((through: Target) => through.converse());
      asked.push(`${id} in ${conversation}`);
      if (fails) throw new Error('it does not hold');
    },
  });
  const model = await startScriptedModel();
  const checks = [check('alone'), check('one', 'shell'), check('two', 'shell', true), check('three', 'shell'), check('four', 'shell')];
  const results = await runChecks(checks, {
    target: { url, model, timeoutMs: 10_000, silenceSeconds: 10 },
    offer: { missing: () => undefined },
    deviations: { server: '', deviations: {} },
    parallel: 1,
    onResult: () => {},
  });
  await model.close();
  expect(results.map(({ verdict }) => verdict)).toEqual(['passed', 'passed', 'failed', 'passed', 'passed']);
  expect(asked).toEqual([
    ...['opened', 'one in 1', 'two in 1', 'removed 1'],
    ...['opened', 'three in 2', 'four in 2', 'removed 2'],
    ...['opened', 'alone in 3', 'removed 3'],
  ]);
});
