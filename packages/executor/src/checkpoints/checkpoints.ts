import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Mutex } from '@tendon/protocol/async';
import type { CheckpointList } from '@tendon/protocol/executor-api';
import { reasonOf } from '../action-handler.ts';
import { createBreath } from './breath.ts';
import { CheckpointStore, type StoreBounds } from './checkpoint-store.ts';
import { restoreWorkspace, type Restored } from './workspace-restore.ts';
import { WorkspaceScan, type ScanBounds, type Scanned, type ScanPlace } from './workspace-scan.ts';

export interface CheckpointsOptions extends ScanPlace {
  readonly stateDir: string;
  readonly isOn: boolean;
  readonly bounds?: Partial<CheckpointBounds>;
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

type State =
  | { readonly state: 'closed' }
  | { readonly state: 'open'; readonly store: CheckpointStore; readonly scan: WorkspaceScan }
  | { readonly state: 'failed'; readonly reason: string };

const OFF = 'they are switched off (SANDBOX_CHECKPOINTS)';
const NEVER = new AbortController().signal;

/**
 * What the workspace was before each step that may change it. Owns the store, which opens with the first step; the workspace is the
 * agent's.
 *
 * 1. One thing at a time: a scan or a restore, in the order in which they were asked for.
 * 2. What cannot be stored hinders no step: from then on there are no checkpoints, and `list` and the step say why.
 * 3. A restore that a kill has cut off is finished by the next executor before anything runs there.
 */
export class Checkpoints {
  readonly #options: CheckpointsOptions;
  readonly #bounds: CheckpointBounds;
  readonly #file: string;
  readonly #turn = new Mutex();
  #state: State = { state: 'closed' };
  #leftOut: readonly string[] = [];
  #isFailureShown = false;

  constructor(options: CheckpointsOptions) {
    this.#options = options;
    this.#bounds = { ...BOUNDS, ...options.bounds };
    this.#file = join(options.stateDir, 'checkpoints.db');
    if (existsSync(this.#file)) void this.#turn.run(() => this.#attempt(() => this.#finishRestore()));
  }

  /** Stores what the workspace is before this effect. Returns, once, why it and all later ones cannot be undone. */
  async before(key: string): Promise<string | undefined> {
    if (!this.#options.isOn) return undefined;
    await this.#turn.run(() => this.#attempt(() => this.#add(key)));
    if (this.#state.state !== 'failed' || this.#isFailureShown) return undefined;
    this.#isFailureShown = true;
    return this.#state.reason;
  }

  /** Resolves when no restore of an earlier executor is under way. */
  ready(): Promise<void> {
    return this.#turn.run(() => {});
  }

  /** Newest first. */
  list(): Promise<CheckpointList> {
    return this.#turn.run(() => {
      if (this.#options.isOn || existsSync(this.#file)) this.#attemptSync(() => this.#open());
      const { store } = { store: undefined, ...this.#state };
      const checkpoints = (store?.list() ?? []).map(({ number, key, at, files }) => ({ number, key, at, files })).toReversed();
      const reason = this.#options.isOn ? (this.#state.state === 'failed' ? this.#state.reason : undefined) : OFF;
      return { checkpoints, left_out: this.#leftOut, ...(reason !== undefined && { off: reason }) };
    });
  }

  /**
   * Makes the workspace what it was at this checkpoint; what it is now becomes a checkpoint first. Throws with a reason that can be
   * shown, and then nothing was changed.
   */
  restore(number: number, key: string): Promise<Restored> {
    return this.#turn.run(async () => {
      const { store, scan } = this.#open();
      const wanted = store.list().find((each) => each.number === number);
      if (!wanted) throw new Error(`there is no checkpoint ${number} (any more)`);
      const { root: current } = await this.#scanned({ store, scan }, `restore:${key}`, true);
      return this.#carryOut({ store, scan }, { current, target: wanted.root });
    });
  }

  close(): void {
    if (this.#state.state === 'open') this.#state.store.close();
    this.#state = { state: 'closed' };
  }

  async #add(key: string): Promise<void> {
    const { store, scan } = this.#open();
    await this.#scanned({ store, scan }, key, false);
    store.prune(this.#bounds, Date.now());
  }

  /** Adds a checkpoint where the workspace is not what it was at the last one. */
  async #scanned({ store, scan }: Opened, key: string, unlocks: boolean): Promise<Scanned> {
    const signal = AbortSignal.timeout(this.#bounds.scanMs);
    store.begin();
    try {
      const scanned = await scan.scan({ signal, unlocks });
      if (store.last()?.root !== scanned.root) store.add({ key, at: Date.now(), root: scanned.root, files: scanned.files });
      store.commit();
      this.#leftOut = scanned.leftOut;
      return scanned;
    } catch (error) {
      store.rollback();
      scan.forget();
      throw signal.aborted ? new Error(`storing it took longer than ${this.#bounds.scanMs / 1000} seconds`, { cause: error }) : error;
    }
  }

  async #carryOut({ store }: Opened, roots: { readonly current: string; readonly target: string }): Promise<Restored> {
    store.setRestoring(roots.target);
    const restored = await restoreWorkspace(roots, { workspace: this.#options.workspace, store, breath: createBreath(NEVER) });
    store.setRestoring(undefined);
    return restored;
  }

  async #finishRestore(): Promise<void> {
    const opened = this.#open();
    const target = opened.store.restoring;
    if (target === undefined) return;
    opened.store.begin();
    const { root: current } = await opened.scan.scan({ signal: NEVER, unlocks: true });
    opened.store.commit();
    opened.scan.removeTemporary();
    await this.#carryOut(opened, { current, target });
  }

  #open(): Opened {
    if (this.#state.state === 'failed') throw new Error(this.#state.reason);
    if (this.#state.state === 'closed') {
      const store = new CheckpointStore(this.#file);
      this.#state = { state: 'open', store, scan: new WorkspaceScan(store, this.#bounds, this.#options) };
    }
    return this.#state;
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    if (this.#state.state === 'failed') return;
    await work().catch((error: unknown) => this.#fail(error));
  }

  #attemptSync(work: () => unknown): void {
    try {
      if (this.#state.state !== 'failed') work();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#state = { state: 'failed', reason: reasonOf(error) };
  }
}

interface Opened {
  readonly store: CheckpointStore;
  readonly scan: WorkspaceScan;
}
