import type { ChildProcess } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { aborted } from '@tendon/protocol/async';
import { membersOf } from '../processes/process-tree.ts';
import { killGroup, spawnDetached } from '../shell/detached-process.ts';
import type { ShellTools } from '../shell/shell-tools.ts';
import { LspConnection } from './lsp-connection.ts';
import type { Language, ServerKind } from './languages.ts';

/** What is wrong at a place of a file, both counted from 1. */
export interface CodeError {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

interface OpenFile {
  version: number;
  /** Of the newest version for which there are any; not settled while more may follow. */
  errors: readonly CodeError[];
  errorsOf: number;
  settledAt: number;
}

export interface LanguageServerOptions {
  readonly language: Language;
  readonly kind: ServerKind;
  /** The line by which it was found. */
  readonly found: string;
  readonly workspace: string;
  readonly tools: Pick<ShellTools, 'detached' | 'place'>;
}

/** Beyond these the one that was opened first is closed. */
const MAX_FILES = 50;
/** Some send what the parser finds before what the types show. */
const SETTLE_MS = 300;
/** Where memory runs out, a language server goes first of all. */
const FIRST_VICTIM = '{ echo 900 >/proc/self/oom_score_adj; } 2>/dev/null';
const ERROR = 1;
/** A server that has not answered `initialize` by then is taken for one that hangs: what it is to be sent waits in memory. */
const BEGIN_MS = 60_000;
const MAX_SETTINGS = 100;

/**
 * One running language server, a process of the agent's side. Owns the process and which files are open in it.
 *
 * 1. It is asked nothing before it has answered `initialize`; what it is to be sent until then is sent in order afterwards.
 * 2. When it ends, however, or sends what is no message, everything that waits for it goes on at once, without errors.
 */
export class LanguageServer {
  readonly isBlind: boolean;
  readonly #options: LanguageServerOptions;
  readonly #child: ChildProcess;
  readonly #connection: LspConnection;
  readonly #files = new Map<string, OpenFile>();
  readonly #ready: Promise<boolean>;
  readonly #ended = Promise.withResolvers<void>();
  /** Errors are asked for; otherwise it sends them by itself. */
  #isAsked = false;
  #isOver = false;
  #answers = 0;
  #changes = Promise.withResolvers<void>();

  constructor(options: LanguageServerOptions) {
    const { kind, workspace, tools } = options;
    this.#options = options;
    this.isBlind = kind.isBlind === true;
    this.#child = spawnDetached(tools.detached, tools.place(), `${FIRST_VICTIM}; ${kind.command}`, workspace, 'pipe', 'pipe');
    this.#child.stderr?.resume();
    this.#child.once('error', () => this.#end());
    this.#child.once('close', () => this.#end());
    this.#connection = new LspConnection(this.#child.stdin!, this.#child.stdout!, {
      notified: (method, params) => method === 'textDocument/publishDiagnostics' && this.#published(params as Published),
      answer: (method, params) => this.#answer(method, params),
      broken: () => this.end(),
    });
    this.#ready = this.#initialize();
  }

  /** How often it has reported on a file. */
  get answers(): number {
    return this.#answers;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** In the executor's numbering. */
  processes(): readonly number[] {
    return this.#isOver || this.#child.pid === undefined ? [] : membersOf(this.#child.pid);
  }

  end(): void {
    killGroup(this.#child, 'SIGKILL');
    this.#end();
  }

  /** A file of its language has this text now. */
  show(path: string, text: string): void {
    const uri = pathToFileURL(path).href;
    const known = this.#files.get(path);
    const file = known ?? { version: 0, errors: [], errorsOf: 0, settledAt: 0 };
    file.version += 1;
    this.#files.set(path, file);
    const { version } = file;
    const send = (): void => {
      const languageId = this.#options.language.ids[extname(path).toLowerCase()];
      if (known) this.#connection.notify('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] });
      else this.#connection.notify('textDocument/didOpen', { textDocument: { uri, languageId, version, text } });
      this.#connection.notify('textDocument/didSave', { textDocument: { uri } });
      if (this.#isAsked) void this.#ask(path, uri, version);
    };
    void this.#ready.then((isReady) => isReady && send());
    const [oldest] = this.#files.keys();
    if (this.#files.size > MAX_FILES) this.hide(oldest!);
  }

  hide(path: string): void {
    if (!this.#files.delete(path)) return;
    const uri = pathToFileURL(path).href;
    void this.#ready.then(() => this.#connection.notify('textDocument/didClose', { textDocument: { uri } }));
  }

  /** Of any kind; of its own language too. */
  changed(path: string, type: 'changed' | 'deleted'): void {
    const changes = [{ uri: pathToFileURL(path).href, type: type === 'deleted' ? 3 : 2 }];
    void this.#ready.then(() => this.#connection.notify('workspace/didChangeWatchedFiles', { changes }));
  }

  /** The errors of a file as it was shown last; nothing where they do not come in time. */
  async errorsOf(path: string, signal: AbortSignal): Promise<readonly CodeError[] | undefined> {
    const over = aborted(signal);
    for (;;) {
      const file = this.#files.get(path);
      if (!file || this.#isOver) return undefined;
      const leftMs = file.errorsOf === file.version ? file.settledAt - performance.now() : Infinity;
      if (leftMs <= 0) return file.errors;
      if (signal.aborted) return undefined;
      const timer = Promise.withResolvers<void>();
      const timeout = leftMs === Infinity ? undefined : setTimeout(timer.resolve, Math.ceil(leftMs));
      await Promise.race([this.#changes.promise, this.#ended.promise, timer.promise, over]);
      clearTimeout(timeout);
    }
  }

  async #initialize(): Promise<boolean> {
    const { workspace, kind, found } = this.#options;
    const [uri, name] = [pathToFileURL(workspace).href, 'workspace'];
    const diagnostics = { publishDiagnostics: { versionSupport: true }, diagnostic: {} };
    const capabilities = {
      general: { positionEncodings: ['utf-16'] },
      textDocument: { synchronization: { didSave: true }, ...diagnostics },
      workspace: { configuration: true, workspaceFolders: true },
    };
    // No process id: it would look for the executor in its own namespace, and end.
    const given = { processId: null, rootUri: uri, workspaceFolders: [{ uri, name }], capabilities };
    const timer = setTimeout(() => this.end(), BEGIN_MS).unref();
    try {
      const answer = await this.#connection.request('initialize', { ...given, initializationOptions: kind.options?.(found) ?? {} });
      const { capabilities: able } = (answer ?? {}) as { readonly capabilities?: { readonly diagnosticProvider?: unknown } };
      this.#isAsked = Boolean(able?.diagnosticProvider);
      this.#connection.notify('initialized', {});
      return true;
    } catch {
      this.end();
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  async #ask(path: string, uri: string, version: number): Promise<void> {
    try {
      const report = (await this.#connection.request('textDocument/diagnostic', { textDocument: { uri } })) as { items?: unknown } | null;
      this.#take(path, version, report?.items, 0);
    } catch {
      // It was cancelled by a newer version, or the server has ended.
    }
  }

  #answer(method: string, params: unknown): unknown {
    const { kind, found } = this.#options;
    if (method !== 'workspace/configuration') return null;
    const { items } = (params ?? {}) as { readonly items?: unknown };
    return Array.isArray(items) ? items.slice(0, MAX_SETTINGS).map(() => kind.options?.(found) ?? null) : [];
  }

  #published({ uri, version, diagnostics }: Published): void {
    const path = pathOf(uri);
    const file = path === undefined ? undefined : this.#files.get(path);
    if (!file || (typeof version === 'number' && version < file.version)) return;
    this.#take(path!, file.version, diagnostics, SETTLE_MS);
  }

  #take(path: string, version: number, given: unknown, settleMs: number): void {
    this.#answers += 1;
    const file = this.#files.get(path);
    if (!file || version !== file.version) return;
    file.errors = (Array.isArray(given) ? (given as (Diagnostic | null)[]) : []).flatMap((each) => errorOf(each));
    file.errorsOf = version;
    file.settledAt = performance.now() + settleMs;
    const before = this.#changes;
    this.#changes = Promise.withResolvers();
    before.resolve();
  }

  #end(): void {
    this.#isOver = true;
    this.#connection.close();
    this.#ended.resolve();
  }
}

interface Published {
  readonly uri?: unknown;
  readonly version?: unknown;
  readonly diagnostics?: unknown;
}

interface Diagnostic {
  readonly severity?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly range?: { readonly start?: { readonly line?: unknown; readonly character?: unknown } };
}

const MAX_MESSAGE_CHARS = 300;

function errorOf(given: Diagnostic | null): readonly CodeError[] {
  const { severity = ERROR, message, range } = given ?? {};
  const { line, character } = range?.start ?? {};
  if (severity !== ERROR || typeof message !== 'string' || typeof line !== 'number' || typeof character !== 'number') return [];
  const words = message.replaceAll(/\s+/g, ' ').trim();
  return [{ line: line + 1, column: character + 1, message: words.slice(0, MAX_MESSAGE_CHARS).toWellFormed() }];
}

function pathOf(uri: unknown): string | undefined {
  try {
    return fileURLToPath(String(uri));
  } catch {
    return undefined;
  }
}
