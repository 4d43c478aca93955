import { type Action, isAction, isObservation, type Event } from '@tendon/protocol';
import { hasFailed } from './outcome.ts';

/** Paths that the agent wrote after the event `after`, in the order of their first change. */
export function changedFiles(events: readonly Event[], after = -1): readonly string[] {
  const paths = new Set<string>();
  for (const event of events) {
    if (event.id <= after || !isObservation(event) || hasFailed(event)) continue;
    if (event.observation === 'edit' || event.observation === 'write') paths.add(event.extras.path);
  }
  return [...paths];
}

const RESTS: ReadonlySet<string> = new Set(['awaiting_user_input', 'finished', 'rejected', 'stopped', 'error']);

/** Actions that change no file, or whose changes are events of their own. */
const HARMLESS: ReadonlySet<Action['action']> = new Set<Action['action']>([
  ...(['null', 'system', 'message', 'start', 'initialize', 'think', 'finish', 'reject', 'recall', 'summarize', 'read', 'browse'] as const),
  ...(['edit', 'write', 'task_tracking', 'change_agent_state', 'pause', 'resume', 'stop', 'condensation', 'condensation_request'] as const),
  ...(['add_task', 'modify_task', 'loop_recovery'] as const),
]);

/**
 * How many files the agent's editor changed since the agent last rested: a message in between does not begin anew. `undefined` where it
 * changed none and something else may have, e.g. a command: then nobody knows here.
 */
export function editedSinceRest(events: readonly Event[]): number | undefined {
  const turn = events.slice(startOfTurn(events));
  const paths = changedFiles(turn);
  if (paths.length > 0) return paths.length;
  return turn.every((event) => isObservation(event) || (isAction(event) && HARMLESS.has(event.action))) ? 0 : undefined;
}

/** The index behind the newest rest that was followed by work. */
function startOfTurn(events: readonly Event[]): number {
  let hasWorked = false;
  const isRest = (event: Event): boolean => {
    if (!isObservation(event) || event.observation !== 'agent_state_changed') return false;
    const rests = RESTS.has(event.extras.agent_state);
    hasWorked ||= !rests;
    return rests && hasWorked;
  };
  return events.findLastIndex(isRest) + 1;
}

export interface FileVersions {
  readonly path: string;
  /** Whether the agent made the file, as far as its events show. */
  readonly isNew: boolean;
  readonly before: string;
  /** `undefined`: only the last unified diff is known. */
  readonly after: string | undefined;
  readonly diff: string | undefined;
}

/** Each file the agent wrote, from before its first change to after its last. */
export function fileVersions(events: readonly Event[]): readonly FileVersions[] {
  const files = new Map<string, FileVersions>();
  const written = new Map<number, string>();
  for (const event of events) {
    if (isAction(event) && event.action === 'write') written.set(event.id, event.args.content);
    if (!isObservation(event) || hasFailed(event)) continue;
    if (event.observation === 'edit') {
      const { path, prev_exist: existed, old_content: before, new_content: after, diff } = event.extras;
      const first = files.get(path) ?? { isNew: !existed, before: before ?? '' };
      files.set(path, { path, isNew: first.isNew, before: first.before, after: after ?? undefined, diff: diff ?? undefined });
    } else if (event.observation === 'write') {
      const { path } = event.extras;
      const first = files.get(path) ?? { isNew: true, before: '' };
      files.set(path, { path, isNew: first.isNew, before: first.before, after: written.get(event.cause ?? -1) ?? '', diff: undefined });
    }
  }
  return [...files.values()];
}
