/** An action `delegate`: somebody outside the engine has another agent do the work; this waits for its report. */
import { DelegateObservation, type Action, type ObservationDraft } from '@tendon/protocol';
import { unlessAborted } from '@tendon/protocol/async';
import type { LoopPorts } from './ports.ts';
import { notStarted } from './notices.ts';
import { spentOf } from './spent.ts';

export interface DelegatedTask {
  /** Id of the action: asked again for the same one, what was begun is attached to. */
  readonly actionId: number;
  /** As clients know agents, e.g. `CodeActAgent`. */
  readonly agent: string;
  readonly task: string;
  /** What is left of the delegating agent's. */
  readonly leftSteps: number;
  readonly leftUsd: number | undefined;
  /** When its work is stopped; default: when it ends. Counted from the action, so a restart gives it no more. */
  readonly endsAt?: Date | undefined;
  /** It works in a copy of the workspace, and its report says where its changes are. */
  readonly isIsolated?: boolean;
}

interface DelegationCost {
  readonly costUsd: number;
  /** Of answers whose price nobody knows. */
  readonly unpricedTokens?: number | undefined;
}

export type Delegation =
  | ({ readonly ok: true; readonly report: string; readonly outputs: Readonly<Record<string, unknown>> } & DelegationCost)
  /** It was not begun; `reason` can be shown. */
  | { readonly ok: false; readonly reason: string };

/**
 * Aborting ends the other agent's work too and still resolves; with a signal that is aborted already nothing is begun, and what was begun ends. Rejects with the storage's error alone: when the write was undone, it is
 * asked again until there is space.
 */
export type Delegate = (task: DelegatedTask, options: { readonly signal: AbortSignal }) => Promise<Delegation>;

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
