/** A Postgres that is started after the server, one that does not come, and one that answers with what waiting does not mend. */
import { PostgresCluster } from '@tendon/testing/postgres';
import { expect, it, onTestFinished } from 'vitest';
import { itInFull } from '@tendon/testing';
import { manualClock } from '../contract/manual-clock.ts';
import { openPostgresStorage } from './open-postgres-storage.ts';

/** Time passes when somebody waits for it. */
function passingClock(onPause: (ms: number) => Promise<void> | void = () => undefined) {
  const clock = manualClock();
  const sleep = async (ms: number): Promise<void> => {
    clock.set(new Date(clock.now().getTime() + ms).toISOString());
    await onPause(ms);
  };
  return { ...clock, sleep };
}

itInFull('SV1105: a database that is started after the server is waited for, which is reported once', async () => {
  const cluster = await PostgresCluster.start();
  onTestFinished(() => cluster.remove());
  const url = await cluster.createDatabase('tendon');
  await cluster.kill();
  const sentences: string[] = [];
  let pauses = 0;
  const clock = passingClock(async () => {
    pauses += 1;
    if (pauses === 3) await cluster.resume();
  });
  const storage = await openPostgresStorage({ url, clock, onOutage: (sentence) => sentences.push(sentence) });
  expect(pauses).toBe(3);
  expect(sentences).toEqual([
    expect.stringMatching(/^Postgres \(.*\/tendon\): .*TENDON_DATABASE_URL\. The server waits for it, 5 minutes/),
  ]);
  await storage.close();
  await expect(openPostgresStorage({ url: cluster.url('none_such'), clock: manualClock(), onOutage: expect.fail })).rejects.toMatchObject({
    code: 'unusable',
    message: expect.stringContaining('createdb'),
  });
});

it('SV1105: one that does not come is waited for with longer and longer pauses, and given up after five minutes, without its password', async () => {
  for (const host of ['127.0.0.1:9', 'localhost:9', 'none-such.invalid:5432']) {
    const pauses: number[] = [];
    const clock = passingClock((ms) => void pauses.push(ms));
    const sentences: string[] = [];
    const url = `postgres://me:hush-hush@${host}/tendon?sslmode=disable`;
    const error = await openPostgresStorage({ url, clock, onOutage: (sentence) => sentences.push(sentence) }).then(
      () => undefined,
      (cause: Error) => cause,
    );
    const report = expect.stringMatching(
      new RegExp(`^Postgres \\(${host}/tendon\\): \\S.*TENDON_DATABASE_URL\\. The server waited 5 minutes`),
    );
    expect(error).toMatchObject({ code: 'unusable', message: report });
    expect(`${error!.message} ${sentences.join()}`).not.toContain('hush-hush');
    expect(sentences).toHaveLength(1);
    expect(pauses.slice(0, 7)).toEqual([200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
    expect(pauses.reduce((sum, ms) => sum + ms)).toBeGreaterThanOrEqual(300_000);
  }
});
