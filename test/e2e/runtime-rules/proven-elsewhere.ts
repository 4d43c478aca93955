/** Rules of the sections of this folder that the events of a conversation cannot show, and the test that proves them. */
export const PROVEN_ELSEWHERE: Readonly<Record<string, string>> = {
  RT38: 'packages/runtime/src/executor/shell/full-screen.slow.test.ts',
  RT39: 'packages/runtime/src/executor/shell/full-screen.slow.test.ts',
  RT45: 'packages/runtime/src/executor/shell/hostile.slow.test.ts',
  RT46: 'packages/runtime/src/executor/effects/output-folder.test.ts',
  RT100: 'packages/runtime/src/executor/kernel/provision.slow.test.ts',
  RT113: 'packages/runtime/src/executor/kernel/run-cell.slow.test.ts',
  RT118: 'packages/runtime/src/executor/kernel/zmtp-frames.test.ts',
  RT119: 'packages/runtime/src/executor/kernel/provision.slow.test.ts',
  RT120: 'packages/runtime/src/kernel-packages/shared-kernel.slow.test.ts',
  RT121: 'packages/runtime/src/kernel-packages/shared-kernel.slow.test.ts',
  RT122: 'packages/runtime/src/kernel-packages/shared-kernel.slow.test.ts',
  RT190: 'test/e2e/drafted-edit.test.ts',
  RT192: 'packages/runtime/src/executor/files/drafted-edit.slow.test.ts',
  RT193: 'test/e2e/drafted-edit.test.ts',
};
