import type { Event } from '@tendon/protocol';
import { ApiError } from '../rest/request.ts';
import type { ConversationConnection, ConversationSnapshot } from './connect.ts';
import type { RefusalCause } from './connection-state.ts';
import type { Gap } from './event-window.ts';

export interface EventsOptions {
  /** Begin after this id. */
  readonly after?: number;
  readonly signal?: AbortSignal;
}

/** The server refused the connection; trying again by itself would not help. */
export class ConnectionRefused extends Error {
  override readonly name = 'ConnectionRefused';
  readonly reason: RefusalCause;

  constructor(reason: RefusalCause, message: string) {
    super(message);
    this.reason = reason;
  }
}

type Source = Pick<ConversationConnection, 'getSnapshot' | 'when' | 'load'>;

/** Of a range of a page, so that a long log is not held back until all of it is there. */
const PAGE = 100;

/**
 * Each event once, in order. What is not known to be complete waits: of a replay the last state comes after everything else.
 * `closed` ends it, `signal` breaks it off.
 */
export async function* eventsOf(
  source: Source,
  { after, signal, closed }: Ends & { readonly after: number },
): AsyncGenerator<Event, void, undefined> {
  let last = after;
  for (;;) {
    signal?.throwIfAborted();
    if (closed.aborted) return;
    const snapshot = source.getSnapshot();
    const next = nextAfter(snapshot, last);
    if (next && 'from' in next) {
      await loaded(source, next, { closed, ...(signal && { signal }) });
    } else if (next) {
      last = next.id;
      yield next;
    } else if (snapshot.connection.state === 'refused') {
      throw new ConnectionRefused(snapshot.connection.cause, snapshot.connection.message);
    } else {
      const from = last;
      await source
        .when((now) => now.connection.state === 'refused' || nextAfter(now, from) !== undefined, signal)
        .catch((reason: unknown) => {
          if (!closed.aborted || signal?.aborted) throw reason;
        });
    }
  }
}

interface Ends {
  readonly signal?: AbortSignal;
  readonly closed: AbortSignal;
}

/** A server that is away, or busy, is asked again. Returns early when it has ended; throws what else was refused. */
async function loaded(source: Source, gap: Gap, { signal, closed }: Ends): Promise<void> {
  const ended = signal ? AbortSignal.any([signal, closed]) : closed;
  for (let pauseMs = FIRST_PAUSE_MS; !ended.aborted; pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs)) {
    try {
      const loading = source.load(gap);
      loading.catch(() => undefined); // it may fail when nobody waits for it any more
      return await unlessEnded(ended, (done, fail) => void loading.then(done, fail));
    } catch (error) {
      if (!willPass(error) || source.getSnapshot().connection.state === 'refused') throw error;
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    await unlessEnded(ended, (done) => (timer = setTimeout(done, pauseMs)));
    clearTimeout(timer);
  }
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

function willPass(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const { reason, status } = error;
  return reason === 'unreachable' || reason === 'timeout' || reason === 'rate-limited' || [502, 503, 504].includes(status);
}

async function unlessEnded(ended: AbortSignal, begin: (done: () => void, fail: (reason: Error) => void) => void): Promise<void> {
  let end: () => void = () => undefined;
  await new Promise<void>((resolve, reject) => {
    end = resolve;
    ended.addEventListener('abort', end);
    if (ended.aborted) resolve();
    begin(resolve, reject);
  }).finally(() => ended.removeEventListener('abort', end));
}

/** The event after this id, or the range to load before it. */
function nextAfter({ events, gaps, cursor }: ConversationSnapshot, last: number): Event | Gap | undefined {
  const event = events[indexAfter(events, last)];
  const known = event && event.id <= cursor ? event : undefined;
  const gap = gaps.find(({ from, to }) => to > last + 1 && from <= cursor);
  if (!gap || (known && known.id < gap.from)) return known;
  const from = Math.max(gap.from, last + 1);
  return { from, to: Math.min(gap.to, from + PAGE) };
}

/** Of the first event with a higher id. */
function indexAfter(events: readonly Event[], id: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (events[middle]!.id <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}
