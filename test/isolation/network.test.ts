import { expect, it } from 'vitest';
import { createLocalDriver } from '../../packages/runtime/src/drivers/local/local-driver.ts';
import { executorFolder } from '../../packages/runtime/src/sandbox.test-support.ts';
import { describeWayOut } from './network/contract.ts';

describeWayOut('local', { make: () => createLocalDriver({ executor: executorFolder() }) }, (under) => {
  it('SB73, SB72: a place that was opened answers, from the next connection on and no longer than that', async () => {
    const { inside, service, setPolicy } = under();
    const get = () => inside(`curl -sS -m 20 --noproxy '' http://${service}/`);
    for (const mode of ['allowlist', 'full'] as const) {
      await setPolicy({ mode, allowPrivate: [] });
      expect((await get()).output).toContain('may not connect');
      await setPolicy({ mode, allowPrivate: [service] });
      expect((await get()).output).toBe('the host answers');
    }
    await setPolicy({ mode: 'none', allowPrivate: [service] });
    expect((await get()).output).toContain('no network');
  });

  it('SB74: what was refused is told to the log once', async () => {
    const { inside, sandboxes, setPolicy } = under();
    await setPolicy({ mode: 'none' });
    for (let time = 0; time < 3; time += 1) await inside('curl -sS -m 20 http://told.example/');
    expect(sandboxes.notices.filter((notice) => notice.includes('told.example'))).toHaveLength(1);
  });
});
