import { isActive, NullObservation, type Action } from '@tendon/protocol';
import type { SourcedDraft } from '../../log/event-log.ts';
import type { EngineState } from '../../engine/engine-state.ts';
import { askBeforeAction, type HookedAction } from '../../engine/hooks.ts';
import { awaitsConfirmation, pendingInOrder } from '../../engine/next-step.ts';
import { addedAgain, answerTo, stateChanged } from '../../engine/notices.ts';
import type { LoopPorts } from '../../engine/ports.ts';

/** Hooks were asked about these. */
type HookedActions = ReadonlyMap<number, HookedAction | undefined>;

/**
 * After a change of the policy: what waits and is allowed by now runs, in one commit. What is still asked about, or denied, goes on
 * waiting, and so does what comes behind it; so does everything where there is no sandbox. Rejects with the storage's error.
 */
export async function judgeAgain(ports: Pick<LoopPorts, 'folded' | 'sandbox' | 'aborts' | 'hooks' | 'policy'>): Promise<void> {
  const { folded, sandbox, aborts, policy } = ports;
  if (allowedNow(folded.state, policy, { executor: sandbox.incarnation() }).length === 0) return;
  const acquired = await sandbox.acquire(aborts.closing);
  if (!acquired.ok) return;
  const { incarnation: executor } = acquired.runtime;
  const hooked = new Map<number, HookedAction | undefined>();
  for (const action of allowedNow(folded.state, policy, { executor }))
    hooked.set(action.id, await askBeforeAction(ports, action, aborts.closing));
  if (aborts.closing.aborted) return;
  await folded.append((state) => {
    const allowed = allowedNow(state, policy, { executor, hooked });
    if (allowed.length === 0) return [];
    const asked = state.conversation.agentState === 'awaiting_user_confirmation';
    const added = allowed.flatMap((action): readonly SourcedDraft[] => [
      answerTo(action, NullObservation.create('', {})),
      ...(hooked.get(action.id)?.notices ?? []),
      addedAgain(action, 'confirmed', executor),
    ]);
    return [...added, ...(asked ? [stateChanged('user_confirmed'), stateChanged('running')] : [])];
  });
}

interface Known {
  readonly executor: string | undefined;
  readonly hooked?: HookedActions;
}

/** Those that wait and that nothing asks about any more, up to the first that goes on waiting. */
function allowedNow(state: EngineState, policy: LoopPorts['policy'], { executor, hooked }: Known): readonly Action[] {
  const { conversation, shell, requested } = state;
  const { agentState, pending } = conversation;
  if (requested || !(isActive(agentState) || agentState === 'awaiting_user_confirmation')) return [];
  const inOrder = pendingInOrder(pending);
  const folder = shell && shell.executor === executor ? shell.folder : undefined;
  const isAllowed = (action: Action): boolean => {
    if (hooked && !hooked.has(action.id)) return false;
    // Where the shell stands behind a command is seen when it has run.
    const at = action === inOrder[0] ? folder : undefined;
    return policy(action, { folder: at, hook: hooked?.get(action.id)?.verdict }).decision === 'allow';
  };
  const waiting = inOrder.filter(awaitsConfirmation);
  const end = waiting.findIndex((action) => !isAllowed(action));
  return end < 0 ? waiting : waiting.slice(0, end);
}
