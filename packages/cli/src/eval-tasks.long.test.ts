import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makePlace, tendon } from './tendon-child.test-support.ts';

const TASKS = join(import.meta.dirname, '../../../evals');
const COUNT = readdirSync(TASKS).length;
/** Each takes some seconds, twice. */
const TIMEOUT = { timeout: 900_000 };

it('EV911: every task of our own is solved by its solution', TIMEOUT, async () => {
  const { code, stdout, stderr } = await tendon(makePlace(), ['eval', TASKS, '--solutions', '-o', 'out']);
  expect(stdout, stderr).toContain(`${COUNT} of ${COUNT} tasks solved`);
  expect(code).toBe(0);
});

it('EV911: no task of our own is solved by an agent that does nothing', TIMEOUT, async () => {
  const place = makePlace();
  const model = place.script([{ text: 'I do nothing.' }]);
  const { code, stdout, stderr } = await tendon(place, ['eval', TASKS, '-m', model, '-o', 'out']);
  expect(stdout, stderr).toContain(`0 of ${COUNT} tasks solved`);
  expect(stderr.match(/failed \(check\)/g)).toHaveLength(COUNT);
  expect(code).toBe(1);
});
