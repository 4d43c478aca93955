import { StorageError, withLogMethods, type EventLog } from '@tendon/core';
import { isAction, isUnknown, type Event } from '@tendon/protocol';
import { Counter, Histogram, type Instrument } from '../platform/exposition.ts';

/** In seconds: a group commit takes milliseconds, a busy disk tenths. */
const APPEND_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** Counts what is appended, and how long it takes until that is durable. */
export class LogMeasures {
  readonly #events = new Counter({
    name: 'tendon_events_appended_total',
    help: 'Events appended: actions, observations and unknown ones, by kind and source',
    labels: ['type', 'kind', 'source'],
  });
  readonly #seconds = new Histogram({ name: 'tendon_log_append_seconds', help: 'Time from an append until it is durable' }, APPEND_BOUNDS);
  readonly #failures = new Counter({
    name: 'tendon_log_append_failures_total',
    help: 'Appends that the storage refused, by cause; an append after which the caller decides anew is a conflict',
    labels: ['cause'],
  });

  get instruments(): readonly Instrument[] {
    return [this.#events, this.#seconds, this.#failures];
  }

  measured(log: EventLog): EventLog {
    return withLogMethods(log, {
      append: async (drafts, options) => {
        const begun = performance.now();
        try {
          const events = await log.append(drafts, options);
          this.#seconds.observe({}, (performance.now() - begun) / 1000);
          for (const event of events) this.#events.add({ ...kindOf(event), source: event.source });
          return events;
        } catch (error) {
          this.#failures.add({ cause: causeOf(error) });
          throw error;
        }
      },
    });
  }
}

/** What the kind of an unknown event is called, a client has chosen. */
function kindOf(event: Event): { readonly type: string; readonly kind: string } {
  if (isUnknown(event)) return { type: 'unknown', kind: 'unknown' };
  return isAction(event) ? { type: 'action', kind: event.action } : { type: 'observation', kind: event.observation };
}

function causeOf(error: unknown): string {
  if (error instanceof Error && error.name === 'AppendConflict') return 'conflict';
  return error instanceof StorageError ? error.code : 'invalid';
}
