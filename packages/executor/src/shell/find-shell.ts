import { spawnSync } from 'node:child_process';
import type { ExecutorConfig } from '@tendon/protocol/executor-api';

/** What the session's script needs came with bash 4.4 (2016). */
const IS_RECENT = '((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404))';
const DEADLINE_MS = 5000;

/** The bash that commands run in: the place's own, or the one that was brought along where that is missing or too old. */
export function findShell({ shell, carried }: ExecutorConfig): string {
  if (carried === undefined) return shell;
  const { status } = spawnSync(shell, ['--norc', '--noprofile', '-c', IS_RECENT], { stdio: 'ignore', timeout: DEADLINE_MS });
  return status === 0 ? shell : carried.shell;
}
