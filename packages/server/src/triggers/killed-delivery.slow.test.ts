import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { builtFaults } from '@tendon/testing/servers';
import { expect, it } from 'vitest';
import { systemClock } from '../platform/system-clock.ts';
import { temporaryFolder, testServer } from '../server.test-support.ts';
import { addTrigger, commentedGithub, conversationCount, deliveriesOf, endOf, storeToken } from './triggers.test-support.ts';

const SCRIPT = [{ text: 'Looked after.' }, { text: 'Looked after.' }];
const START = Date.parse('2026-05-01T08:30:00Z');
const DAY_MS = 86_400_000;
const run = promisify(execFile);

/** The number of changes when it was not killed. */
async function serveKilledAt(home: string, trigger: string, time: string, point: number): Promise<number | undefined> {
  const args = [builtFaults('killed-delivery'), home, trigger, time, String(point)];
  return run(process.execPath, args).then(
    ({ stdout }) => Number(stdout),
    ({ signal, stderr }: { readonly signal: string | null; readonly stderr: string }) => {
      expect(signal, stderr).toBe('SIGKILL');
      return undefined;
    },
  );
}

it(
  'TG909, TG923: a server that is killed at any change leaves one conversation and one comment for a tick',
  { timeout: 600_000 },
  async () => {
    const home = temporaryFolder();
    const github = await commentedGithub();
    const serverAt = (time: number) =>
      testServer({
        home,
        script: SCRIPT,
        clock: { now: () => new Date(time), sleep: (ms, options) => systemClock.sleep(Math.min(ms, 100), options) },
      });
    const first = await serverAt(START);
    await storeToken(first, 'github', github);
    const trigger = await addTrigger(first, {
      kind: 'schedule',
      prompt: 'Look after it.',
      schedule: { cron: '0 9 * * *' },
      post_to: { git_provider: 'github', repository: 'ann/tools', number: 9 },
    });
    await first.close();
    let killed = 0;
    for (let changes: number | undefined; changes === undefined; killed++) {
      // A day for each point, as no day fires twice.
      const due = START + DAY_MS * killed + 3_600_000;
      changes = await serveKilledAt(home, trigger.id, new Date(due).toISOString(), 5 * killed);
      const server = await serverAt(due);
      await expect.poll(async () => (await deliveriesOf(server, trigger)).length, { timeout: 60_000 }).toBe(killed + 1);
      const end = await endOf(server, trigger);
      expect([killed, end]).toEqual([killed, expect.objectContaining({ state: 'done' })]);
      expect([await conversationCount(server), github.comments.length]).toEqual([killed + 1, killed + 1]);
      await server.close();
    }
    expect(killed).toBeGreaterThan(4);
  },
);
