import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Mutex } from '@tendon/protocol/async';
import type { CheckpointFile, CheckpointList } from '@tendon/protocol/executor-api';
import { reasonOf } from '../action-handler.ts';
import { createBreath } from './breath.ts';
import { compareTrees, type Comparison } from './compare-trees.ts';
import { copyHistory } from './copy-history.ts';
import { CheckpointStore, type StoreBounds, type StoredCheckpoint } from './checkpoint-store.ts';
import { fileInTree, withPathsOf } from './part-of-tree.ts';
import { restoreWorkspace, type RestoreParts } from './workspace-restore.ts';
import { BeyondBounds, WorkspaceScan, type ScanBounds, type Scanned, type ScanPlace } from './workspace-scan.ts';

export interface CheckpointsOptions extends ScanPlace {
  readonly stateDir: string;
  readonly isOn: boolean;
  readonly bounds?: Partial<CheckpointBounds>;
}

export interface Restored {
  /** Files and links that were written, replaced or removed. */
  readonly changed: number;
  /** Some of those that could not be put right, as people read them. */
  readonly left: readonly string[];
  /** What was there before is a checkpoint. */
  readonly isStored: boolean;
}

export interface WorkspaceCopy {
  /** The folder, which the host takes away. */
  readonly folder: string;
  /** Some of what could not be copied, as people read it. */
  readonly left: readonly string[];
}

interface CheckpointBounds extends ScanBounds, StoreBounds {
  /** How long one scan may take. */
  readonly scanMs: number;
}

const GIB = 1024 ** 3;
const DAY_MS = 24 * 60 * 60 * 1000;
const BOUNDS: CheckpointBounds = {
  ...{ files: 200_000, fileBytes: 16 * 1024 ** 2, storeBytes: 2 * GIB, scanMs: 60_000 },
  ...{ checkpoints: 100, bytes: GIB, ageMs: 30 * DAY_MS },
};

const OFF = 'only commands that destroy are preceded by one (SANDBOX_CHECKPOINTS is off)';
/** Of the history that is copied with a workspace. */
const HISTORY_BOUNDS = { files: 500_000, bytes: 4 * GIB };
/** Copies that were made for the host and not taken by it. */
const COPIES = 'copies';
const NEVER = new AbortController().signal;

/**
 * What the workspace was before each step that may change it. Owns the store, which opens with the first step, and the note of a restore
 * that is under way; the workspace is the agent's.
 *
 * 1. One thing at a time: a scan or a restore, in the order in which they were asked for.
 * 2. What cannot be stored hinders no step: from then on there are no checkpoints until one is restored, and `list` and the step say why.
 * 3. The note of a restore is there before anything changes, and goes when all is done: a restore that a kill has cut off is finished by
 *    the next executor before anything runs there.
 */
export class Checkpoints {
  readonly #options: CheckpointsOptions;
  readonly #bounds: CheckpointBounds;
  readonly #file: string;
  readonly #note: string;
  readonly #turn = new Mutex();
  #opened: Opened | undefined;
  #failure: string | undefined;
  #leftOut: readonly string[] = [];
  #isFailureShown = false;

  constructor(options: CheckpointsOptions) {
    this.#options = options;
    this.#bounds = { ...BOUNDS, ...options.bounds };
    this.#file = join(options.stateDir, 'checkpoints.db');
    this.#note = join(options.stateDir, 'restoring.json');
  }

  /**
   * Stores what the workspace is before this effect; before a destructive one also where checkpoints are off. Returns, once, why it and
   * all later ones cannot be undone.
   */
  async before(key: string, { isDestructive = false } = {}): Promise<string | undefined> {
    if (!this.#options.isOn && !isDestructive) return undefined;
    await this.#turn.run(() => this.#attempt((opened) => this.#add(opened, key)));
    if (this.#failure === undefined || this.#isFailureShown) return undefined;
    this.#isFailureShown = true;
    return this.#failure;
  }

  /** Reads what the next checkpoint will hold, while nothing waits for it. */
  prepare(): void {
    if (this.#options.isOn && !this.#opened) void this.#turn.run(() => this.#attempt((opened) => this.#scanned(opened)));
  }

  /** Newest first. */
  list(): Promise<CheckpointList> {
    return this.#turn.run(async () => {
      let stored: readonly StoredCheckpoint[] = [];
      if (existsSync(this.#file)) await this.#attempt(async ({ store }) => void (stored = store.list()), { isListing: true });
      const checkpoints = stored.map(({ number, key, at, files }) => ({ number, key, at, files })).toReversed();
      const off = this.#options.isOn ? this.#failure : OFF;
      return { checkpoints, left_out: this.#leftOut, ...(off !== undefined && { off }) };
    });
  }

  /**
   * Makes the workspace, or these paths in it, what it was at this checkpoint; what it is now becomes a checkpoint first, unless it is too large for one.
   * Rejects with a reason that can be shown.
   */
  restore(number: number, key: string, paths?: readonly string[]): Promise<Restored> {
    return this.#turn.run(async () => {
      const opened = this.#open();
      const { root: wanted } = checkpointOf(opened, number);
      const { root: current, isStored } = await this.#present(opened, { key: `restore:${key}`, unlocks: true });
      const target = paths ? graftOnto(opened, { current, target: wanted }, paths) : wanted;
      writeNote(this.#note, { key, number, target });
      const restored = await this.#carryOut(opened, { current, target });
      this.#failure = undefined;
      this.#isFailureShown = false;
      return { ...restored, isStored };
    });
  }

  /** What restoring this checkpoint would do to the files as they are now, or as another has them. Rejects with a reason that can be shown. */
  compare(number: number, { until, lines }: CompareOptions = {}): Promise<Comparison> {
    return this.#turn.run(async () => {
      const opened = this.#open();
      const { root: target } = checkpointOf(opened, number);
      const { root: current } = until === undefined ? await this.#present(opened) : checkpointOf(opened, until);
      return compareTrees(opened.store, { current, target }, { lines });
    });
  }

  /** What a path was at this checkpoint. Rejects with a reason that can be shown. */
  file(number: number, path: string, maxBytes: number): Promise<CheckpointFile> {
    return this.#turn.run(async () => {
      const opened = this.#open();
      return fileInTree(opened.store, checkpointOf(opened, number).root, path, maxBytes);
    });
  }

  /** Finishes the restore in which an earlier executor was killed, if there is one, and calls `onDone` with it. Never rejects. */
  async finishRestore(onDone: (key: string, number: number, restored: Restored) => void): Promise<void> {
    const note = readNote(this.#note);
    if (!note) return;
    await this.#turn.run(() =>
      this.#attempt(async (opened) => {
        const { root: current } = await this.#look(opened);
        opened.scan.removeTemporary();
        const restored = await restoreWorkspace({ current, target: note.target }, this.#parts(opened));
        onDone(note.key, note.number, { ...restored, isStored: true });
        rmSync(this.#note, { force: true });
      }),
    );
  }

  /**
   * Writes the workspace as it was at this checkpoint, or is now, into a new folder in the private state, with its histories as they are
   * now. Rejects with a reason that can be shown.
   */
  copy(number: number | undefined, name: string): Promise<WorkspaceCopy> {
    return this.#turn.run(async () => {
      const opened = this.#open();
      const { root: target } = number === undefined ? await this.#scanned(opened) : checkpointOf(opened, number);
      const folder = join(realpathSync(this.#options.stateDir), COPIES, name);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const breath = createBreath(NEVER);
      const restored = await restoreWorkspace({ current: undefined, target }, { workspace: folder, store: opened.store, breath });
      const workspace = realpathSync(this.#options.workspace);
      const histories = await copyHistory({ workspace, copy: folder, bounds: HISTORY_BOUNDS, breath });
      return { folder, left: [...restored.left, ...histories] };
    });
  }

  /** Copies that nobody has taken, because a server or an executor was killed meanwhile. */
  removeCopies(): void {
    rmSync(join(this.#options.stateDir, COPIES), { recursive: true, force: true });
  }

  close(): void {
    this.#opened?.store.close();
    this.#opened = undefined;
  }

  async #add(opened: Opened, key: string): Promise<void> {
    await this.#scanned(opened, { key });
    opened.store.prune(this.#bounds, Date.now());
  }

  /** With a key: adds a checkpoint where the workspace is not what it was at the last one. Rejects with `BeyondBounds`. */
  async #scanned({ store, scan }: Opened, { key, unlocks }: ScanRequest = {}): Promise<Scanned> {
    const signal = AbortSignal.timeout(this.#bounds.scanMs);
    store.begin();
    try {
      const scanned = await scan.scan({ signal, ...(unlocks && { unlocks }) });
      const isNew = key !== undefined && store.last()?.root !== scanned.root;
      if (isNew) store.add({ key, at: Date.now(), root: scanned.root, files: scanned.files });
      store.commit();
      this.#leftOut = scanned.leftOut;
      return scanned;
    } catch (error) {
      store.rollback();
      scan.forget();
      throw signal.aborted ? new BeyondBounds(`storing it took longer than ${this.#bounds.scanMs / 1000} seconds`) : error;
    }
  }

  /** What the workspace is; with a key it becomes a checkpoint, unless it is too large for one. */
  async #present(opened: Opened, options?: ScanRequest): Promise<{ readonly root: string; readonly isStored: boolean }> {
    try {
      return { root: (await this.#scanned(opened, options)).root, isStored: true };
    } catch (error) {
      if (!(error instanceof BeyondBounds)) throw error;
      return { root: (await this.#look(opened)).root, isStored: false };
    }
  }

  /** What the workspace is, whatever its size: the contents of its files are not stored. */
  async #look({ store, scan }: Opened): Promise<Pick<Scanned, 'root'>> {
    scan.forget();
    store.begin();
    try {
      const scanned = await scan.scan({ signal: NEVER, unlocks: true, isUnbounded: true });
      store.commit();
      return scanned;
    } finally {
      store.rollback();
      scan.forget();
    }
  }

  async #carryOut(opened: Opened, roots: { readonly current: string; readonly target: string }): Promise<Omit<Restored, 'isStored'>> {
    try {
      return await restoreWorkspace(roots, this.#parts(opened));
    } finally {
      // Also where it failed: finished by a later executor, it would take back what was done since.
      rmSync(this.#note, { force: true });
    }
  }

  #parts({ store }: Opened): RestoreParts {
    return { workspace: this.#options.workspace, store, breath: createBreath(NEVER) };
  }

  #open(): Opened {
    if (!this.#opened) {
      const store = new CheckpointStore(this.#file);
      this.#opened = { store, scan: new WorkspaceScan(store, this.#bounds, this.#options) };
    }
    return this.#opened;
  }

  async #attempt(work: (opened: Opened) => Promise<unknown>, { isListing = false } = {}): Promise<void> {
    if (this.#failure !== undefined && !isListing) return;
    try {
      await work(this.#open());
    } catch (error) {
      this.#failure = reasonOf(error);
    }
  }
}

interface CompareOptions {
  readonly until?: number | undefined;
  /** Counts lines, too. */
  readonly lines?: boolean;
}

interface ScanRequest {
  readonly key?: string;
  readonly unlocks?: boolean;
}

interface Opened {
  readonly store: CheckpointStore;
  readonly scan: WorkspaceScan;
}

/** Throws with a reason that can be shown. */
function checkpointOf({ store }: Opened, number: number): StoredCheckpoint {
  const found = store.list().find((each) => each.number === number);
  if (!found) throw new Error(`there is no checkpoint ${number} (any more)`);
  return found;
}

/** The tree is durable when this returns. Throws for what is no path in the workspace. */
function graftOnto({ store }: Opened, roots: { readonly current: string; readonly target: string }, paths: readonly string[]): string {
  store.begin();
  try {
    const target = withPathsOf(store, roots, paths);
    store.commit();
    return target;
  } finally {
    store.rollback();
  }
}

/** What is to be finished: the effect, the checkpoint and its tree. */
interface RestoreNote {
  readonly key: string;
  readonly number: number;
  readonly target: string;
}

/** Whole and on the disk when it returns. */
function writeNote(path: string, note: RestoreNote): void {
  writeFileSync(`${path}.new`, JSON.stringify(note), { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
}

function readNote(path: string): RestoreNote | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as RestoreNote;
  } catch {
    return undefined;
  }
}
