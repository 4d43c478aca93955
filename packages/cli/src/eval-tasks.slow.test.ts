import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makePlace, tendon } from './tendon-child.test-support.ts';

const TASKS = join(import.meta.dirname, '../../../evals');
/** `npm run test:long` plays all of them. */
const SOME = ['fix-pagination', 'add-json-flag', 'write-tests'];

it('EV911: some tasks of our own are solved by their solutions, and by nothing else', async () => {
  const place = makePlace();
  const run = (...more: string[]) => tendon(place, ['eval', TASKS, '--only', ...SOME, ...more]);
  const solved = await run('--solutions');
  expect(solved.stdout, solved.stderr).toContain('3 of 3 tasks solved');
  const idle = await run('-m', place.script([{ text: 'I do nothing.' }]));
  expect(idle.stdout, idle.stderr).toContain('0 of 3 tasks solved');
});
