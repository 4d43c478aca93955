import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ObservationDraft } from '@tendon/protocol';

export interface JournalEntry {
  readonly incarnation: string;
  /** The digest of the action; missing in entries of an executor of protocol 1. */
  readonly digest: string | undefined;
  readonly state: 'started' | 'done';
  /** Absent when not done, or too old to be retained. */
  outcome(): ObservationDraft | undefined;
}

interface JournalEntryPlace {
  readonly incarnation: string;
  readonly digest: string | undefined;
  readonly state: 'started' | 'done';
  /** Of the line that holds the outcome. */
  readonly at?: { readonly offset: number; readonly bytes: number };
}

/** `gone`: ended, but its outcome is not retained any more. */
type JournalLine = { k: string; i: string; d?: string | undefined } & ({ s: 'started' | 'gone' } | { s: 'done'; o: ObservationDraft });

export interface JournalLimits {
  /** The newest outcomes that are retained. */
  readonly retainedBytes: number;
  /** A longer file is written anew. */
  readonly maxBytes: number;
}

const LIMITS: JournalLimits = { retainedBytes: 32 * 1024 * 1024, maxBytes: 96 * 1024 * 1024 };

/**
 * Which effects were started and how they ended, in an append-only file of JSON lines. Owns the file; runs nothing.
 *
 * JOU1  `started` is written before an effect starts, `done` before its answer goes out; neither is synced: the journal
 *       outlives the process, not the machine, and a sandbox does not outlive the machine either.
 * JOU2  The file ends with a whole line, also after a write that the disk cut short: that one throws, and the next begins where it began.
 *       A line that a crash cut is no entry and is taken away when the file is opened.
 * JOU3  Keys are retained for good, outcomes only the newest: a key never looks as if it had not been seen.
 */
export class Journal {
  readonly #path: string;
  readonly #incarnation: string;
  readonly #limits: JournalLimits;
  readonly #keys = new Map<string, JournalEntryPlace>();
  #fd: number;
  #size: number;

  /** Opens the one of this state folder, or begins one. */
  constructor(stateDir: string, incarnation: string, limits: JournalLimits = LIMITS) {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    this.#path = join(stateDir, 'journal.ndjson');
    this.#incarnation = incarnation;
    this.#limits = limits;
    this.#fd = openSync(this.#path, 'a+', 0o600);
    this.#size = this.#load();
  }

  started(key: string, digest: string): void {
    this.#append({ s: 'started', k: key, i: this.#incarnation, d: digest });
    this.#keys.set(key, { incarnation: this.#incarnation, digest, state: 'started' });
  }

  done(key: string, outcome: ObservationDraft): void {
    const offset = this.#size;
    const digest = this.#keys.get(key)?.digest;
    const bytes = this.#append({ s: 'done', k: key, i: this.#incarnation, d: digest, o: outcome });
    this.#keys.set(key, { incarnation: this.#incarnation, digest, state: 'done', at: { offset, bytes } });
    if (this.#size > this.#limits.maxBytes) this.#compact();
  }

  find(key: string): JournalEntry | undefined {
    const place = this.#keys.get(key);
    if (place === undefined) return undefined;
    const { incarnation, digest, state } = place;
    return { incarnation, digest, state, outcome: () => this.#outcomeOf(place) };
  }

  close(): void {
    closeSync(this.#fd);
  }

  #append(line: JournalLine): number {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    try {
      writeAll(this.#fd, bytes);
    } catch (error) {
      // A full disk writes the beginning of a line: every later offset would be wrong, and the next line a part of this one.
      ftruncateSync(this.#fd, this.#size);
      throw error;
    }
    this.#size += bytes.length;
    return bytes.length;
  }

  #outcomeOf({ at }: JournalEntryPlace): ObservationDraft | undefined {
    const line = at && parseLine(this.#lineAt(at));
    return line?.s === 'done' ? line.o : undefined;
  }

  #lineAt({ offset, bytes }: { readonly offset: number; readonly bytes: number }): string {
    const buffer = Buffer.alloc(bytes);
    readSync(this.#fd, buffer, 0, bytes, offset);
    return buffer.toString('utf8');
  }

  /** Writes the file anew with every key and the newest outcomes, and puts it in place in one step. Throws when the disk has no room for that: the file stays. */
  #compact(): void {
    const fresh = `${this.#path}.new`;
    try {
      this.#writeCompacted(fresh);
      renameSync(fresh, this.#path);
    } catch (error) {
      rmSync(fresh, { force: true });
      throw error;
    }
    closeSync(this.#fd);
    this.#fd = openSync(this.#path, 'a+', 0o600);
    this.#keys.clear();
    this.#size = this.#load();
  }

  #writeCompacted(to: string): void {
    const out = openSync(to, 'w', 0o600);
    try {
      const from = this.#size - this.#limits.retainedBytes;
      for (const [key, { incarnation: who, digest, state, at }] of this.#keys) {
        const isRetained = at !== undefined && at.offset >= from;
        const short: JournalLine = { s: state === 'done' ? 'gone' : 'started', k: key, i: who, d: digest };
        writeAll(out, Buffer.from(`${isRetained ? this.#lineAt(at).trimEnd() : JSON.stringify(short)}\n`));
      }
    } finally {
      closeSync(out);
    }
  }

  /** Reads what is there; returns the file's size after an unfinished last line was taken away. */
  #load(): number {
    const data = readFileSync(this.#path);
    for (let offset = 0; offset < data.length;) {
      const stop = data.indexOf(10, offset);
      if (stop < 0) break;
      const line = parseLine(data.toString('utf8', offset, stop));
      const at = { offset, bytes: stop - offset };
      if (line)
        this.#keys.set(line.k, {
          incarnation: line.i,
          digest: line.d,
          state: line.s === 'started' ? 'started' : 'done',
          ...(line.s === 'done' && { at }),
        });
      offset = stop + 1;
    }
    const whole = data.lastIndexOf(10) + 1;
    if (whole < data.length) ftruncateSync(this.#fd, whole);
    return whole;
  }
}

function parseLine(text: string): JournalLine | undefined {
  try {
    const line = JSON.parse(text) as JournalLine;
    const isLine = typeof line.k === 'string' && (line.d === undefined || typeof line.d === 'string');
    return isLine && ['started', 'gone', 'done'].includes(line.s) ? line : undefined;
  } catch {
    return undefined;
  }
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) written += writeSync(fd, bytes, written);
}
