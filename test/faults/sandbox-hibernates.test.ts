import { mkdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { isAlive, leftOf, never, run, runAction, type TestSandboxes } from '@tendon/runtime/testing';
import { someOf } from '@tendon/testing';
import { APPENDED_AT } from './sandbox-drivers.ts';
import { sandboxStage } from './sandbox-stage.ts';

/** Killed anywhere in hibernating. */
const stage = sandboxStage('local');

const SET_UP = 'mkdir -p inner && cd inner && export STORED=yes && echo x > /tmp/file && echo once >> ../count';
/** No other action here has it. */
const SET_UP_ID = 1_000_000;
const LOOK = 'echo "$STORED $(basename "$PWD") $(cat /tmp/file 2>&1)"';

it.each(someOf([0, 20, 40, 60, 80, 110, 150, 250], [60]))(
  'SB92: the server killed %d ms after its sandbox was last used: nothing is lost or done twice',
  async (afterMs) => {
    const server = stage.serve(SET_UP, { id: SET_UP_ID, idleMs: 40 });
    const first = await server.line('incarnation');
    await server.line('result');
    await delay(afterMs); // where in hibernating it is hit is the point: any moment will do
    await server.kill();
    const { runtimes, stateRoot } = await stage.takeOver();
    await runtimes.reconcile();
    const runtime = await runtimes.acquire('conversation', { signal: never });
    const action = runAction(runtime, SET_UP, { id: SET_UP_ID, executor: first, timestamp: APPENDED_AT });
    expect(await runtime.execute(action, { signal: never })).toMatchObject({ outcome: 'observed', observation: { observation: 'run' } });
    const seen = await look(runtimes);
    expect(seen).toBe('yes inner x');
    expect(readFileSync(stage.path('workspace/count'), 'utf8')).toBe('once\n');
    const isAnother = runtimes.current('conversation')?.incarnation !== first;
    expect(isAnother ? leftOf(first, stateRoot) : []).toEqual([]);
  },
);

it.each(someOf([0, 10, 20, 30, 40, 60], [40]))(
  'SB92: the executor killed %d ms into hibernating: the next one works, with all or with nothing',
  async (afterMs) => {
    mkdirSync(stage.path('workspace'));
    const { runtimes, handle } = await stage.takeOver({ idlePlan: { idleMs: 50 } });
    const runtime = await runtimes.acquire('conversation', { signal: never });
    await run(runtime, SET_UP);
    const { anchor } = await handle('conversation');
    await delay(afterMs);
    try {
      process.kill(anchor!.pid, 'SIGKILL');
    } catch {
      // it hibernated already
    }
    await expect.poll(() => isAlive(anchor!)).toBe(false); // until then it may take an action along, whose outcome is unknown
    expect(await look(runtimes)).toMatch(/^(yes inner x| workspace cat: .*)$/);
    expect(readFileSync(stage.path('workspace/count'), 'utf8')).toBe('once\n');
  },
);

/** As the engine does: what certainly did not run is tried again, and nothing else. */
async function look(runtimes: TestSandboxes['runtimes']): Promise<string> {
  for (;;) {
    const runtime = await runtimes.acquire('conversation', { signal: never });
    const result = await runtime.execute(runAction(runtime, LOOK), { signal: never });
    if (result.outcome !== 'not-started') return result.outcome === 'observed' ? result.observation.content : result.reason;
  }
}
