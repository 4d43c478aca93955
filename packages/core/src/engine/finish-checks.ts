/** Before the agent's task counts as finished, the user's checks are run: as actions in the log, so each is run once, also through a crash. */
import { RunAction } from '@tendon/protocol';
import type { SourcedDraft } from '../log/event-log.ts';
import { sandboxFailed } from './execute.ts';
import { nextStep } from './next-step.ts';
import type { LoopPorts } from './ports.ts';

/** A check that takes longer has failed. */
const CHECK_SECONDS = 600;

export async function beginChecks({
  folded,
  sandbox,
  aborts,
  limits,
}: Pick<LoopPorts, 'folded' | 'sandbox' | 'aborts' | 'limits'>): Promise<void> {
  const acquired = await sandbox.acquire(aborts.beginTurn());
  if (aborts.closing.aborted) return;
  await folded.append((state) => {
    if (nextStep(state, limits).do !== 'check') return [];
    if (!acquired.ok) return [sandboxFailed(acquired.reason)];
    return limits.finishChecks.map((command): SourcedDraft => {
      const run = RunAction.create({ command, is_static: true, thought: 'A check before the task is finished.' });
      return { ...run, source: 'environment', timeout: CHECK_SECONDS, executor: acquired.runtime.incarnation };
    });
  });
}
