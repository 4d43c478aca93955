/** An action `delegate`: somebody outside the engine has another agent do the work; this waits for its report. */
import { DelegateObservation, type Action, type ObservationDraft } from '@tendon/protocol';
import { unlessAborted } from '@tendon/protocol/async';
import type { LoopPorts } from './ports.ts';
import { notStarted } from './notices.ts';
import { spentOf } from './spent.ts';
import type { DelegatedTask, DelegationCost } from './host-capabilities.ts';

/** The observation, with what it cost; nothing when this process is leaving: the next one attaches to what was begun. */
export async function delegated(
  ports: Pick<LoopPorts, 'delegate' | 'retry' | 'aborts' | 'folded' | 'limits'>,
  { id, args, timestamp }: Action<'delegate'>,
  options: { readonly cancelled?: boolean } = {},
): Promise<(ObservationDraft & DelegationCost) | undefined> {
  const { delegate } = ports;
  if (!delegate) return { ...notStarted('no other agent can be asked here.'), costUsd: 0 };
  const { signal, cancel, end } = ports.aborts.beginAction();
  if (options.cancelled) cancel();
  try {
    const task = typeof args.inputs.task === 'string' ? args.inputs.task : JSON.stringify(args.inputs);
    const endsAt = args.time_limit === undefined ? undefined : new Date(Date.parse(timestamp) + args.time_limit * 1000);
    const asked = ports.retry.untilWritten(() =>
      delegate({ actionId: id, agent: args.agent, task, endsAt, ...(args.isolated && { isIsolated: true }), ...leftOf(ports) }, { signal }),
    );
    const done = await unlessAborted(asked, ports.aborts.closing);
    if (!done) return undefined;
    if (!done.ok) return { ...notStarted(done.reason), costUsd: 0 };
    const { report, outputs, costUsd, unpricedTokens } = done;
    return { ...DelegateObservation.create(report, { outputs }), costUsd, unpricedTokens };
  } finally {
    end();
  }
}

function leftOf({ folded: { state }, limits }: Pick<LoopPorts, 'folded' | 'limits'>): Pick<DelegatedTask, 'leftSteps' | 'leftUsd'> {
  const { maxIterations, maxBudgetUsd } = limits;
  const spent = state.metrics ? spentOf(state.metrics) : 0;
  return { leftSteps: maxIterations - state.progress.turns, leftUsd: maxBudgetUsd === undefined ? undefined : maxBudgetUsd - spent };
}
