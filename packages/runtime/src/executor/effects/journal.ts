import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ObservationDraft } from '@tendon/protocol';

/**
 * Which effects were started and how they ended, in an append-only file of JSON lines. Owns the file; runs nothing.
 *
 * 1. `started` is written before an effect starts, `done` before its answer goes out; neither is synced: the journal
 *    outlives the process, not the machine, and a sandbox does not outlive the machine either.
 * 2. A line that was cut by a crash is no entry. What follows it is read.
 * 3. Keys are kept for good, outcomes only the newest: a key never looks as if it had not been seen.
 */
export interface Journal {
  started(key: string): void;
  done(key: string, outcome: ObservationDraft): void;
  find(key: string): JournalEntry | undefined;
  close(): void;
}

export interface JournalEntry {
  readonly incarnation: string;
  readonly state: 'started' | 'done';
  /** Absent when not done, or too old to be kept. */
  outcome(): ObservationDraft | undefined;
}

interface Place {
  incarnation: string;
  /** Of the line that holds the outcome. */
  at?: { offset: number; bytes: number };
}

type Line = { s: 'started'; k: string; i: string } | { s: 'done'; k: string; i: string; o: ObservationDraft };

const KEPT_BYTES = 64 * 1024 * 1024;

export function openJournal(stateDir: string, incarnation: string): Journal {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const path = join(stateDir, 'journal.ndjson');
  const keys = new Map<string, Place>();
  const fd = openSync(path, 'a+', 0o600);
  let size = load(path, keys);

  function append(line: Line): number {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    for (let written = 0; written < bytes.length;) written += writeSync(fd, bytes, written);
    size += bytes.length;
    return bytes.length;
  }

  function outcomeOf(place: Place): ObservationDraft | undefined {
    if (!place.at || place.at.offset < size - KEPT_BYTES) return undefined;
    const bytes = Buffer.alloc(place.at.bytes);
    readSync(fd, bytes, 0, bytes.length, place.at.offset);
    const line = parseLine(bytes.toString('utf8'));
    return line?.s === 'done' ? line.o : undefined;
  }

  return {
    started(key) {
      append({ s: 'started', k: key, i: incarnation });
      keys.set(key, { incarnation });
    },
    done(key, outcome) {
      const offset = size;
      const bytes = append({ s: 'done', k: key, i: incarnation, o: outcome });
      keys.set(key, { incarnation, at: { offset, bytes } });
    },
    find(key) {
      const place = keys.get(key);
      return place && { incarnation: place.incarnation, state: place.at ? 'done' : 'started', outcome: () => outcomeOf(place) };
    },
    close: () => closeSync(fd),
  };

  /** Reads what is there; returns the file's size after an unfinished last line was ended. */
  function load(file: string, into: Map<string, Place>): number {
    const data = readFileSync(file);
    let offset = 0;
    while (offset < data.length) {
      const end = data.indexOf(10, offset);
      const stop = end < 0 ? data.length : end;
      const line = parseLine(data.toString('utf8', offset, stop));
      if (line) into.set(line.k, { incarnation: line.i, ...(line.s === 'done' && { at: { offset, bytes: stop - offset } }) });
      offset = stop + 1;
    }
    if (data.length > 0 && data.at(-1) !== 10) writeSync(fd, '\n');
    return fstatSync(fd).size;
  }
}

function parseLine(text: string): Line | undefined {
  try {
    const line = JSON.parse(text) as Line;
    return typeof line.k === 'string' && (line.s === 'started' || line.s === 'done') ? line : undefined;
  } catch {
    return undefined;
  }
}
