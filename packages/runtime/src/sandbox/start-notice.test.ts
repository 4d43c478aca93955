import { expect, it } from 'vitest';
import type { SandboxRecord } from './sandbox-record.ts';
import { NEVER_STARTED, RESTORED, startNotice, STOPPED } from './start-notice.ts';

const before = (state: 'ended' | 'asleep', reason: string): SandboxRecord => ({
  ...{ conversation_id: 'c', driver: 'local', incarnation: 'i', workspace: '/w', started_at: '2026-01-01T00:00:00Z' },
  ...{ state, reason },
});

it.each([
  ['the sandbox ended', /^the sandbox that worked here before has ended: what was running, /],
  ['the sandbox ended: the sandbox’s memory limit was reached', /has ended \(the sandbox’s memory limit was reached\): /],
  ['its time of 60 seconds is over', /has ended \(its time of 60 seconds is over\): /],
])('SB161: the end of one is reported with its reason: %s', (reason, notice) => {
  expect(startNotice(before('ended', reason), {})).toMatch(notice);
});

it.each([
  ['was never there', undefined],
  ['was stopped by somebody', before('ended', STOPPED)],
  ['never started', before('ended', NEVER_STARTED)],
  ['hibernated', before('asleep', 'it was idle')],
])('SB161: of one that %s nothing is reported', (_title, previous) => {
  expect(startNotice(previous, {})).toBeUndefined();
});

it('SB167: after a restore from a backup reports that the home is gone and the workspace is not', () => {
  const notice = startNotice(before('ended', RESTORED), { isNew: true });
  expect(notice).toMatch(
    /^the server was restored from a backup: .* gone with its home, and the files of the workspace are as they were left/,
  );
});

it('SB157: the loss is reported when the host knew nothing of the hibernated sandbox', () => {
  expect(startNotice(before('asleep', 'it was idle'), { isNew: true })).toMatch(/^the host of the sandbox has lost what it stored: /);
  expect(startNotice(before('ended', STOPPED), { isNew: true })).toBeUndefined();
});
