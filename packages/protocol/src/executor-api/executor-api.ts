/**
 * What the host and the executor say to each other: HTTP/1.1 over a unix socket or a port. Plain types without a library,
 * because both ends are ours and the host treats every answer as untrusted input and checks it.
 *
 *   GET  /alive                    → Alive
 *   GET  /server_info              → uptime, memory, processes
 *   GET  /watch                    → application/x-ndjson that ends when the sandbox does
 *   POST /execute_action           ExecuteRequest → application/x-ndjson of ExecuteLine, the last one is an outcome
 *   GET  /effects/<key>?digest=    → EffectReport
 *   POST /effects/<key>/cancel?digest= → 204; the effect ends with an outcome of its own
 *   GET  /effects/<key>/output?from= → at most 1 MiB of its output from that byte on, empty at its end; 404 where none is stored
 *   POST /list_files {path}        → string[]; folders end in "/"
 *   GET  /files?path=              → bytes            PUT /files?path=  bytes → 204
 *   POST /lines_to_edit {path, start, end} → LinesToEdit, for an edit that a model writes out
 *   GET  /checkpoints              → CheckpointList
 *   POST /compare_checkpoint {checkpoint, until?, lines?} → CheckpointComparison; what a restore of it would do to the files now, or at the checkpoint `until`
 *   POST /checkpoint_file {checkpoint, path, max_bytes} → CheckpointFile; what a path was at that checkpoint
 *   POST /copy_workspace {name, checkpoint} → {left}; the workspace as it was then (0: as it is), as the folder `copies/<name>` of `stateDir`
 *   GET  /ports                    → {ports: ServedPort[]}, what the agent's programs serve
 *   GET  /ports/follow             → application/x-ndjson of the same, now and whenever it has changed
 *   GET  /tunnel/<port>            with `Upgrade: tcp` → 101, and the connection is one to that port
 *   GET  /egress               with `Upgrade: tcp` → 101 when something inside wants to leave the sandbox, and the connection is its own; 204: ask again. Where `egressByHost`
 *   GET  /process              with `Upgrade: tcp` → 101; after a line that is a ProcessRequest it is that program's input and output
 *   GET  /shell                with `Upgrade: tcp` → 101; lines of ShellInput lead to a person's own shell, lines of ShellOutput come from it
 *   GET  /agent-shell          with `Upgrade: tcp` → 101; the same of the agent's own shell, while an action has taken it over; a line may give it back
 *   POST /plugins/start {name}     → PluginStart
 *   POST /lease {seconds}          → 204; without a server for that long and nothing running, the executor ends itself
 *   POST /sleep {with_kernel}      → SuspendAnswer; when `slept` is true, everything inside ends after the answer
 *   POST /sleep {in_place: true}   → SuspendAnswer; when `slept` is true, what the agent started is suspended until an action, a connection to a port or a plugin is wanted
 *   POST /end_work                 → 204; every action is cancelled, and what the agent started is killed, but its shell and its kernel
 *   POST /shutdown                 → 204, then everything inside ends
 * Streams hold an empty line every 15 seconds.
 * On a port every request carries the key of `keyFile` as `X-Session-API-Key`; what does not is answered 401 and changes nothing.
 * Without a key only programs of the same machine are served.
 * `X-Owner-Epoch` names the owner of the conversation, where several servers share conversations. The greatest that was seen is stored; what
 * changes anything and carries a smaller one is answered 412 and changes nothing. A request without one is not compared.
 */
import type { ObservationDraft } from '../event.ts';

/** Given to the executor as one JSON argument, `--config <json>`; it holds no secret. */
export interface ExecutorConfig {
  readonly incarnation: string;
  readonly endpoint: ExecutorEndpoint;
  readonly folders: ExecutorFolders;
  readonly network?: ExecutorNetwork;
  readonly shell: ExecutorShell;
  readonly limits: ExecutorLimits;
  /** Default: all. */
  readonly plugins?: readonly PluginName[];
  /** Whether the workspace is stored before each step that may change it; by default it is. */
  readonly checkpoints?: boolean;
}

/**
 * Given to an executor whose place is started before it is known what for, as one JSON argument, `--await <json>`; it holds no secret. It answers
 * `GET /alive` with `{"status": "waiting"}`, and takes its configuration once, as `PUT /config` with the body `AwaitedConfig`. The header
 * `X-Tendon-Signature` is that of `<place>\n<body>`, in base64, so that nobody else configures it and no configuration serves twice.
 */
export interface AwaitRequest {
  readonly host: string;
  readonly port: number;
  /** Of Ed25519, as SPKI in base64. */
  readonly publicKey: string;
  /** A name that no other place ever has. */
  readonly place: string;
  /** Of the place: they are made where they are missing. */
  readonly folders: Pick<ExecutorFolders, 'stateDir' | 'workspace'> & { readonly home: string };
}

export interface AwaitedConfig {
  /** Its endpoint is the one where it was awaited, and its shell has the variables of the place. */
  readonly config: Omit<ExecutorConfig, 'endpoint'>;
  /** What every request carries from then on. */
  readonly key: string;
  /** What an earlier executor has left, but for the workspace, is removed before. */
  readonly isFresh?: boolean;
}

export const SIGNATURE_HEADER = 'x-tendon-signature';

/** Where it answers: exactly one of `socketPath` and `port`. */
export interface ExecutorEndpoint {
  readonly socketPath?: string;
  readonly port?: number;
  /** Where `port` listens; 127.0.0.1 by default. Where other machines reach it, `keyFile` is needed. */
  readonly host?: string;
  /** In `stateDir`, which what runs inside does not see: the key that every request to `port` must carry. */
  readonly keyFile?: string;
}

export interface ExecutorFolders {
  /** Holds the journal of effects and the outputs; outside workspace, home and /tmp. */
  readonly stateDir: string;
  /** The workspace inside, e.g. `/workspace`. */
  readonly workspace: string;
  /** `<device>:<inode>` of the folder that must be there: where it was named by a path, another may have been put in its place. */
  readonly workspaceIs?: string;
  /** The workspace, with whatever is mounted in it, must be mounted read-only. */
  readonly isReadOnly?: boolean;
  /** Below `workspace`, mounted onto themselves; with `<device>:<inode>` where they were named by their paths, as the workspace was. */
  readonly protectedPaths?: readonly { readonly path: string; readonly isReadOnly: boolean; readonly identity?: string }[];
  /** Where the shell starts; inside `workspace`. */
  readonly workDir: string;
  /** Folders whose content ends with the executor; hibernating stores it. */
  readonly volatileFolders?: readonly string[];
}

export interface ExecutorNetwork {
  /** The unix socket of the egress proxy, which speaks HTTP; the executor offers it on a loopback port to what runs inside. */
  readonly proxySocketPath?: string;
  /** Nothing of the host's listens there: the executor does, and hands what comes to the connections that the host makes to `/egress`. */
  readonly egressByHost?: boolean;
  /** A unix socket behind which the server starts a browser as a sidecar of the sandbox, for images without one. */
  readonly browserSocketPath?: string;
  /** There is no network: programs need not try again and again. */
  readonly isOffline?: boolean;
  /** Git hosts that the proxy speaks with in the user's name; git inside asks the proxy for them. */
  readonly gitHosts?: readonly string[];
}

export interface ExecutorShell {
  /** The bash of the place. */
  readonly program: string;
  /**
   * In a sandbox: an empty folder at which what runs inside finds the executor's terminals. It has a share of its own of terminals then,
   * and can make no namespaces.
   */
  readonly terminals?: string;
  /** In an image of somebody else's: what the executor brings along and does not look for there. */
  readonly bundled?: {
    /** Folder of `setsid`, `unshare`, `nsenter` and `mount`. */
    readonly tools: string;
    /** A bash that needs no libraries; taken where `program` is missing or too old. */
    readonly shell: string;
  };
  /** Nothing runs at the place but its first process, the executor, and what the agent starts, as in a pod. */
  readonly isAlone?: boolean;
  /** Variables that the image gives to every program; not the executor's own. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** In the home of the agent: the whole of what is shown in part. A path that begins with it is resolved by the executor, as by a shell. */
export const OUTPUT_FOLDER = '~/.cache/tendon/output';

export interface ExecutorLimits {
  /** Seconds without output after which a command is handed back as still running (soft timeout). */
  readonly noOutputTimeoutSeconds: number;
  /** Seconds without a server after which an idle executor ends. */
  readonly leaseSeconds: number;
  /** Of what is printed; `OUTPUT_LIMITS` by default. */
  readonly output?: OutputLimits;
  /** Seconds after which the executor hangs up on a client that stops in the middle of a request, or does not read; 60 by default. */
  readonly stillSeconds?: number;
  /** Seconds without a page after which the agent's shell that a person took over is given back; 20 by default. */
  readonly takeOverSeconds?: number;
  /** Seconds without use after which the browser ends; 300 by default. */
  readonly browserIdleSeconds?: number;
}

/** Names that peers know where they have one. */
export const PLUGIN_NAMES = ['jupyter', 'browser', 'agent_skills', 'vscode', 'diagnostics'] as const;
export type PluginName = (typeof PLUGIN_NAMES)[number];

/** A port on which a program of the agent waits for connections. */
export interface ServedPort {
  readonly port: number;
  /** The program's name, as the system knows it. */
  readonly program: string;
}

/** A program that is spoken to over its input and output. Its variables are in no log, and go with it. */
export interface ProcessRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Of a terminal, in characters. */
export interface ShellSize {
  readonly columns: number;
  readonly rows: number;
}

/** A line to a person's own shell. The first gives the size, and a later one may change it. */
export interface ShellInput extends Partial<ShellSize> {
  readonly input?: string;
  /** Only to the agent's own: the person has finished, and the agent goes on. */
  readonly giveBack?: true;
}

/** A line from it; `ended` is the last. */
export interface ShellOutput {
  readonly output?: string;
  /** `code`: of the shell, where it has one; `reason`: why there is none. */
  readonly ended?: { readonly code: number | null; readonly reason?: string };
}

export type PluginStart =
  /** `page`: where its own page is, if it has one. */
  | { readonly ok: true; readonly page?: { readonly port: number; readonly path: string } }
  /** A sentence that says what to do about it. */
  | { readonly ok: false; readonly reason: string };

/** The oldest and the newest version of this protocol that one end speaks. */
export type ProtocolRange = readonly [oldest: number, newest: number];

/**
 * What is built from this source speaks. An executor outlives the server that started it, so the next one asks for this before it asks for
 * anything else. Raise the newest when either end would misunderstand the other; raise the oldest when that version is no longer understood.
 *
 * 1  Without a range in `Alive`: executors from before there were versions. A known key is answered whatever action it comes with.
 * 2  Requests carry a digest of the action.
 * 3  `restore_checkpoint` may name paths; an executor that does not read them would restore everything.
 * 4  Requests carry the epoch of the conversation's owner, and a smaller one is refused; one of version 3 refuses nobody.
 */
export const PROTOCOL: ProtocolRange = [3, 4];

/** A positive integer that grows whenever the conversation gets another owner; left out where it cannot have another. */
export const OWNER_EPOCH_HEADER = 'x-owner-epoch';

/** Answered to a request with a smaller epoch than one before. */
export const FENCED_STATUS = 412;

export interface Alive {
  readonly status: 'ok';
  readonly incarnation: string;
  readonly pid: number;
  readonly protocol: ProtocolRange;
}

/** The name of an executor's process, as the host's process table has it, while what it started is suspended. */
export const SUSPENDED_NAME = 'tendon-asleep';

/** Reasons against suspending that end by themselves, the same in every version of the protocol. */
export const BUSY = { action: 'an action runs', command: 'a command runs' } as const;

/** With `slept: false`, why it must not be suspended. */
export type SuspendAnswer = { readonly slept: true } | { readonly slept: false; readonly reason: string };

export interface ExecuteRequest {
  /** `<conversation id>:<epoch>:<event id>`; without the epoch where the event is in no log, or is older than epochs. */
  readonly key: string;
  /** The digest of the action: a key that was seen with another digest is refused. */
  readonly digest: string;
  readonly incarnation: string;
  readonly action: { readonly action: string; readonly args: Readonly<Record<string, unknown>>; readonly timeout?: number };
  /** Variables for this command alone; they are in no log, journal or spool. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Ask for `output` lines from this offset on. */
  readonly outputFrom?: number;
}

export type ExecuteLine =
  | { readonly type: 'output'; readonly offset: number; readonly text: string }
  | { readonly type: 'outcome'; readonly observation: ObservationDraft }
  /** Seen before, started by this incarnation, and no outcome was recorded (the executor's own fault). */
  | { readonly type: 'unknown'; readonly reason: string }
  /** Refused before it started: another incarnation is meant, the key is another action's, or the request is malformed. */
  | { readonly type: 'refused'; readonly reason: string };

export type EffectReport =
  | { readonly state: 'never-seen' }
  /** The key is another action's. */
  | { readonly state: 'another' }
  | { readonly state: 'started' }
  | { readonly state: 'done'; readonly observation: ObservationDraft };

/** A state of the workspace that can be restored. */
export interface CheckpointEntry {
  readonly number: number;
  /** The key of the effect before which it was made; `restore:<key>` where it holds what a restore replaced. */
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly files: number;
}

export interface CheckpointList {
  /** Newest first. */
  readonly checkpoints: readonly CheckpointEntry[];
  /** Some of the files whose content the newest checkpoint does not hold. */
  readonly left_out: readonly string[];
  /** Why no further ones are made, where none are. */
  readonly off?: string;
}

/** What a restore would do to a file or a link. */
export interface CheckpointChange {
  /** In the workspace. */
  readonly path: string;
  readonly change: 'added' | 'changed' | 'removed';
  /** Lines that came and went since the checkpoint, where they were asked for and can be counted. */
  readonly lines?: { readonly added: number; readonly removed: number };
  /** Names its present content, with `lines`. */
  readonly content?: string;
}

/** What a path was at a checkpoint. */
export type CheckpointFile =
  /** `content` in base64. */
  | { readonly state: 'file'; readonly content: string }
  | { readonly state: 'link'; readonly target: string }
  /** It was there, and its content is not stored. */
  | { readonly state: 'left' }
  | { readonly state: 'too-large' }
  | { readonly state: 'folder' }
  | { readonly state: 'absent' };

export interface CheckpointComparison {
  /** All of them; a bounded number is named. */
  readonly count: number;
  readonly changes: readonly CheckpointChange[];
}

/** How much of the output of commands and cells is stored, and shown. */
export interface OutputLimits {
  /** Of an observation, in UTF-16 units. */
  readonly chars: number;
  /** Of the file that keeps one output whole. */
  readonly fileBytes: number;
  /** Of all those files of a conversation together. */
  readonly folderBytes: number;
}

/** More than 30,000 characters no client of the old protocols is given; what is longer than that would be cut a second time. */
export const OUTPUT_LIMITS: OutputLimits = { chars: 30_000, fileBytes: 512 * 1024 ** 2, folderBytes: 1024 ** 3 };

/** Counted from 1, inclusive; `end` −1 is the end of the file, `start` −1 the place after it. */
export interface LineRange {
  readonly start: number;
  readonly end: number;
}

export type LinesToEdit =
  /** `version` names the file's content, so that the edit is made to no other. */
  | { readonly state: 'lines'; readonly text: string; readonly first: number; readonly last: number; readonly version: string }
  /** There is nothing to merge with: the draft is taken as it stands. */
  | { readonly state: 'none' }
  /** It cannot be edited so; `reason` is for the model. */
  | { readonly state: 'refused'; readonly reason: string };

/** The name that the git inside asks the proxy for, in place of a host whose token the server keeps. */
export const GIT_BROKER_NAME = 'git.tendon.internal';
