import { isRunnable, type ActionDraft, type ActionKind, type ObservationDraft, type RunnableKind } from '@tendon/protocol';
import type { RecordedLog } from '@tendon/server/headless';

/** One recorded action that a sandbox carried out. */
export interface Step {
  /** Its place in the recording, from 0. */
  readonly event: number;
  readonly action: ActionDraft<RunnableKind>;
  /** Its observation; missing if the recording ends before. */
  readonly recorded: ObservationDraft | undefined;
  /** Why it is not repeated. */
  readonly left: string | undefined;
}

/** The steps of a recording in their order; actions that were held back or rejected never ran and are left out. */
export async function plannedSteps(log: RecordedLog, onProblem: (sentence: string) => void): Promise<readonly Step[]> {
  const actions: { readonly event: number; readonly action: ActionDraft<RunnableKind> }[] = [];
  const answers = new Map<number, ObservationDraft>();
  for (let event = 0; event < log.length; event++) {
    const { draft } = await log.event(event, onProblem);
    if ('action' in draft) {
      if (isRunnable(draft.action as ActionKind)) actions.push({ event, action: draft as ActionDraft<RunnableKind> });
    } else if ('observation' in draft && draft.cause !== undefined && !answers.has(draft.cause)) answers.set(draft.cause, draft);
  }
  return actions.flatMap(({ event, action }) => {
    const recorded = answers.get(event);
    return wasHeldBack(action, recorded) ? [] : [{ event, action, recorded, left: whyLeft(action) }];
  });
}

function wasHeldBack({ args }: ActionDraft<RunnableKind>, recorded: ObservationDraft | undefined): boolean {
  if (recorded?.observation === 'user_rejected') return true;
  const state = 'confirmation_state' in args ? args.confirmation_state : undefined;
  return state === 'rejected' || (state === 'awaiting_confirmation' && (!recorded || recorded.observation === 'null'));
}

function whyLeft(draft: ActionDraft<RunnableKind>): string | undefined {
  if (draft.action === 'browse' || draft.action === 'browse_interactive') return 'web pages are never the same twice';
  return draft.action === 'edit' && !draft.args.command ? 'a model wrote this edit out' : undefined;
}
