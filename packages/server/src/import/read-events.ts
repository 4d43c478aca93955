import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { lostEvent, storedEvent, type ImportedEvent } from './stored-event.ts';
import type { Source } from './find-sources.ts';
import { parsedJson, readPlainFile, readPlainJson } from '../platform/read-plain-file.ts';

/** More than one conversation ever has; a file name alone must not make a million events. */
const MAX_EVENTS = 200_000;
const MAX_MISSING = 10_000;
const MAX_FILE_BYTES = 256 * 1024 * 1024;

export interface RecordedLog {
  readonly length: number;
  /** The event of an id below `length`; what is missing or damaged is reported to `onProblem` and becomes an error observation. */
  readonly event: (id: number, onProblem: (sentence: string) => void) => Promise<ImportedEvent>;
}

/** How to read the events of a source. Rejects with a user-facing error when it cannot be one. */
export function readEvents({ kind, path }: Source): Promise<RecordedLog> {
  return kind === 'folder' ? folderLog(path) : trajectoryLog(path);
}

async function folderLog(path: string): Promise<RecordedLog> {
  const folder = join(path, 'events');
  const ids = new Set(
    (await readdir(folder)).flatMap((name) => (/^(0|[1-9]\d{0,8})\.json$/.test(name) ? [Number.parseInt(name, 10)] : [])),
  );
  const length = [...ids].reduce((longest, id) => Math.max(longest, id + 1), 0);
  if (length > MAX_EVENTS) throw new Error(`it has an event ${length - 1}; more than ${MAX_EVENTS} are not taken`);
  if (length - ids.size > MAX_MISSING) throw new Error(`${length - ids.size} of its ${length} events are missing`);
  return {
    length,
    event: async (id, onProblem) => {
      const file = join(folder, `${id}.json`);
      try {
        if (!ids.has(id)) throw new Error('its file is missing');
        return storedEvent(object(await readPlainJson(file, MAX_FILE_BYTES)));
      } catch (cause) {
        onProblem(`${file}: ${(cause as Error).message}`);
        return lostEvent(id, (cause as Error).message);
      }
    },
  };
}

/** Ids are given anew: an export leaves out what is hidden, and causes are moved with what they name. */
async function trajectoryLog(path: string): Promise<RecordedLog> {
  // Named by who imports, so it may be a link.
  const events = eventsIn(await readPlainFile(await realpath(path), MAX_FILE_BYTES));
  if (events.length > MAX_EVENTS) throw new Error(`it has more than ${MAX_EVENTS} events`);
  const places = new Map(events.flatMap((event, place) => (isObject(event) && typeof event.id === 'number' ? [[event.id, place]] : [])));
  return {
    length: events.length,
    event: async (place, onProblem) => {
      const event = events[place];
      if (isObject(event)) return storedEvent({ ...event, cause: places.get(event.cause as number) ?? null });
      onProblem(`${path}: event ${place} is not an object`);
      return lostEvent(place, 'it is not an object');
    },
  };
}

/** An array, `{"trajectory": […]}`, or one event a line. */
function eventsIn(text: string): readonly unknown[] {
  let json: unknown;
  try {
    json = parsedJson(text);
  } catch (cause) {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    const events = lines.length < 2 ? [] : lines.map(lineOf);
    // Some lines may be damaged; a text of which none is an event is something else.
    if (!events.some(isObject)) throw cause;
    return events;
  }
  const events = isObject(json) && 'trajectory' in json ? json.trajectory : json;
  if (!Array.isArray(events)) throw new Error('it is not a JSON array of events');
  return events as readonly unknown[];
}

function lineOf(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

function object(value: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw new Error('it is not a JSON object');
  return value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
