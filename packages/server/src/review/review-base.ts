import { loggedEvents, type Checkpoint, type Checkpoints, type EventLog } from '@tendon/core';
import { catalogError, isAction, isObservation, type Action, type CatalogError, type Event } from '@tendon/protocol';
import { STORED_BEFORE, isOfLog } from '../checkpoints/fork-point.ts';

/** What the workspace is compared with: a checkpoint, a commit of its repository, or itself. */
export type ReviewBase =
  | { readonly kind: 'checkpoint'; readonly checkpoint: Checkpoint; readonly note: string | null }
  /** `branch`: where the work left it; without one, what was last published or committed. */
  | { readonly kind: 'commit'; readonly branch: string | undefined; readonly note: string | null }
  | { readonly kind: 'now' };

const PIECE = 200;
const NOW: ReviewBase = { kind: 'now' };

/** `against` has passed its schema. */
export async function reviewBase(log: EventLog, against: string, stored: Checkpoints): Promise<ReviewBase | CatalogError> {
  const [kind, value = ''] = splitAt(against);
  if (kind === 'branch') return { kind: 'commit', branch: value, note: null };
  if (kind === 'published') return { kind: 'commit', branch: undefined, note: null };
  const own = stored.checkpoints.filter((each) => isOfLog(log, each));
  if (kind === 'checkpoint') {
    const found = stored.checkpoints.find(({ number }) => number === Number(value));
    return found
      ? { kind: 'checkpoint', checkpoint: found, note: null }
      : catalogError('INVALID_ARGUMENTS', `there is no checkpoint ${value}`);
  }
  if (kind === 'start') return startOf(own, stored);
  const event = kind === 'turn' ? await lastMessage(log) : Number(value);
  return event === undefined ? NOW : checkpointBefore(log, event, own, stored);
}

function startOf(own: readonly Checkpoint[], { off }: Checkpoints): ReviewBase {
  const first = own.at(-1);
  if (!first) return off === undefined ? NOW : { kind: 'commit', branch: undefined, note: withoutCheckpoints(off) };
  const note = first.number > 1 ? 'The start is no longer stored; this is the earliest that is.' : null;
  return { kind: 'checkpoint', checkpoint: first, note };
}

/** What the workspace was before the first step after this event. */
async function checkpointBefore(
  log: EventLog,
  event: number,
  own: readonly Checkpoint[],
  { off }: Checkpoints,
): Promise<ReviewBase | CatalogError> {
  const id = await firstStep(log, event, new Set(own.map(({ actionId }) => actionId)));
  if (id === undefined) return NOW;
  // Without one of its own the workspace was then what it is in the one before.
  const found = own.find(({ actionId }) => actionId <= id);
  if (found) return { kind: 'checkpoint', checkpoint: found, note: null };
  if (off !== undefined) return { kind: 'commit', branch: undefined, note: withoutCheckpoints(off) };
  return catalogError('INVALID_ARGUMENTS', 'what the workspace was then is not stored (any more)');
}

function withoutCheckpoints(why: string): string {
  return `Compared with the last commit: ${why}.`;
}

/** The first step that ran after this event and may have changed something. An error without a checkpoint may mean that it never ran. */
async function firstStep(log: EventLog, event: number, stored: ReadonlySet<number>): Promise<number | undefined> {
  let candidate: number | undefined;
  for await (const each of loggedEvents(log, { from: event + 1 })) {
    if (candidate === undefined && isAction(each) && isStored(each)) candidate = each.id;
    if (candidate !== undefined && stored.has(candidate)) return candidate;
    if (candidate === undefined || !isObservation(each) || each.cause !== candidate) continue;
    if (each.observation !== 'error' && each.observation !== 'user_rejected') return candidate;
    candidate = undefined;
  }
  return candidate;
}

function isStored({ action, args }: Action): boolean {
  if (!STORED_BEFORE.has(action)) return false;
  const state = 'confirmation_state' in args ? args.confirmation_state : 'confirmed';
  return state !== 'awaiting_confirmation' && state !== 'rejected';
}

async function lastMessage(log: EventLog): Promise<number | undefined> {
  for (let to = log.nextId; to > 0; to -= PIECE) {
    const from = Math.max(0, to - PIECE);
    const found = (await log.read({ from, limit: to - from })).findLast(isMessage);
    if (found) return found.id;
  }
  return undefined;
}

function isMessage(event: Event): boolean {
  return isAction(event) && event.action === 'message' && event.source === 'user';
}

function splitAt(against: string): readonly [string, string?] {
  const at = against.indexOf(':');
  return at < 0 ? [against] : [against.slice(0, at), against.slice(at + 1)];
}
