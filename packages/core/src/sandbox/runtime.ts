import type { CheckpointComparison, CheckpointFile, LineRange, LinesToEdit } from '@tendon/protocol/executor-api';
import type { Action, ObservationDraft, RunnableKind } from '@tendon/protocol';

export type RunnableAction = Action<RunnableKind>;

/** Honest isolation: what the driver really enforces. */
export type Strength = 'container' | 'os-sandbox' | 'none';

/** What became of an action. A failing tool is an observation; only the loss of the executor is not. */
export type ExecuteResult =
  | { readonly outcome: 'observed'; readonly observation: ObservationDraft }
  /** The executor is gone or another incarnation answers: it may have run, wholly or partly, or not at all. Never re-run. */
  | { readonly outcome: 'unknown'; readonly reason: string }
  /** It certainly did not run: the sandbox could not take it. */
  | { readonly outcome: 'not-started'; readonly reason: string }
  /** Another server has taken the conversation over: what became of the action is that server's to find out and to record. */
  | { readonly outcome: 'fenced'; readonly reason: string };

export interface OutputChunk {
  /** Bytes of this action's output before this chunk. */
  readonly offset: number;
  readonly text: string;
}

export interface ExecuteOptions {
  /** Aborting cancels the action inside (the foreground process group is interrupted, then killed) and still yields a result. */
  readonly signal: AbortSignal;
  readonly onOutput?: (chunk: OutputChunk) => void;
  /** The epoch of the action in its log (`EventLog.epochOf`). Default: the action is in no log, and its id is random. */
  readonly epoch?: string;
  /** The caller knows that this action was never sent before. Default: it may have been; the wall clock cannot decide it. */
  readonly isFresh?: boolean;
  /** The `traceparent` header of the call. */
  readonly traceparent?: string;
}

/** What is known of a sandbox that runs. */
export interface RuntimeFacts {
  /** Names this executor; another start has another name. */
  readonly incarnation: string;
  readonly strength: Strength;
  /** One clause for the status bar and the log, e.g. "bubblewrap, own network, 2 GiB". */
  readonly description: string;
  /** Where the workspace is inside. */
  readonly workspace: string;
  /** Nothing inside can change the workspace. */
  readonly isReadOnly?: boolean;
}

/** Executes actions in one sandbox. The key is (conversation, epoch, event id): the same action is executed at most once per incarnation. */
export interface Runtime extends RuntimeFacts {
  /**
   * Runs the action, or attaches to it, or answers its recorded outcome if its key was seen before. Never rejects.
   * An action whose `executor` names another incarnation is not run: its outcome is unknown.
   */
  execute(action: RunnableAction, options: ExecuteOptions): Promise<ExecuteResult>;
  /**
   * A piece of what an action printed, from that byte on; empty at its end, as far as it has come. Nothing where none is stored.
   * Rejects with an Error whose message can be shown.
   */
  output(
    actionId: number,
    offset: number,
    options: { readonly signal: AbortSignal; readonly epoch?: string },
  ): Promise<Uint8Array | undefined>;
  /** Files of the workspace for the routes (list, read, upload, zip). Paths are absolute inside the sandbox or relative to `workspace`. */
  readonly files: WorkspaceFiles;
  /** Resolves with the reason when the executor is found dead. */
  readonly lost: Promise<string>;
}

export interface WorkspaceFiles {
  /** Entries of one folder; folders end in `/`. Rejects with an Error whose message can be shown. */
  list(path: string, options: { readonly signal: AbortSignal }): Promise<readonly string[]>;
  read(path: string, options: { readonly signal: AbortSignal; readonly maxBytes: number }): Promise<Uint8Array>;
  write(path: string, bytes: Uint8Array, options: { readonly signal: AbortSignal }): Promise<void>;
  /** The states of the workspace that can be restored. Rejects like the others. */
  checkpoints(options: { readonly signal: AbortSignal }): Promise<Checkpoints>;
  /** What restoring this one would do to the files now, or as they were at the checkpoint `until`. Rejects like the others. */
  compareCheckpoint(number: number, options: CompareCheckpointOptions): Promise<CheckpointComparison>;
  /** What a path of the workspace was at this checkpoint. Rejects like the others. */
  checkpointFile(
    number: number,
    path: string,
    options: { readonly signal: AbortSignal; readonly maxBytes: number },
  ): Promise<CheckpointFile>;
  /** What an edit that a model writes out would replace; changes nothing. Rejects like the others. */
  linesToEdit(path: string, range: LineRange, options: { readonly signal: AbortSignal }): Promise<LinesToEdit>;
}

export interface CompareCheckpointOptions {
  readonly signal: AbortSignal;
  readonly until?: number;
  /** Counts lines, too. */
  readonly lines?: boolean;
}

/** A stored state of the workspace. */
export interface Checkpoint {
  readonly number: number;
  /** It was made before this action; of a restore, it holds what that replaced. */
  readonly actionId: number;
  /** Of that action in its log. */
  readonly epoch: string | undefined;
  readonly isOfRestore: boolean;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly files: number;
}

export interface Checkpoints {
  /** Newest first. */
  readonly checkpoints: readonly Checkpoint[];
  /** Some of the files whose content the newest one does not hold. */
  readonly leftOut: readonly string[];
  /** Why no further ones are made, where none are. */
  readonly off?: string;
}

export type StartPhase = 'starting' | 'started' | 'workspace' | 'git-hooks' | 'ready';

/** One sandbox per conversation: started on first need, found again after a crash, replaced when it died. */
export interface Runtimes {
  /**
   * The live runtime; concurrent calls share one start. Rejects with an Error whose message names the failed phase and its cause; with
   * `StorageError('fenced')` when another server has taken the conversation over.
   */
  acquire(
    conversationId: string,
    options: {
      readonly signal: AbortSignal;
      readonly onPhase?: (phase: StartPhase, detail?: string) => void;
      /** Aborted when the actions that may still run in the sandbox are no longer wanted, so that it can be replaced at once. */
      readonly unwanted?: AbortSignal;
    },
  ): Promise<Runtime>;
  /** The live runtime if there is one, without starting any. */
  current(conversationId: string): Runtime | undefined;
  /** True when the workspace certainly holds nothing, as far as can be known without a sandbox; where it is missing nothing is known. */
  isWorkspaceEmpty?(conversationId: string): Promise<boolean>;
  /** Whether a workspace can be mounted so that nothing in a sandbox can change it; default: it cannot. */
  readonly mountsReadOnly?: boolean;
  /** The conversation's workspace is to be mounted another way: what is there of its sandbox ends, and the next one does it. */
  remount?(conversationId: string): Promise<void>;
  /** Ends the sandbox and everything in it; resolves when nothing of it is left. `forGood`: of a workspace on another host neither. */
  stop(conversationId: string, options?: { readonly forGood?: boolean }): Promise<void>;
}
