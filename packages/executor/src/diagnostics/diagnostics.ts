import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { relative } from 'node:path';
import { unlessAborted } from '@tendon/protocol/async';
import { killGroup, spawnDetached } from '../shell/detached-process.ts';
import type { ShellTools } from '../shell/shell-tools.ts';
import { LanguageServer, type CodeError } from './language-server.ts';
import { findScript, languageOf, type Language, type ServerKind } from './languages.ts';

/** A file that was written; no text where it is gone, is none or is too long. */
export interface EditedFile {
  readonly path: string;
  readonly text: string | undefined;
}

export interface DiagnosticsOptions {
  readonly workspace: string;
  readonly shell: () => Promise<Pick<ShellTools, 'detached' | 'place'>>;
}

const WAIT_MS = 2_000;
const FIND_MS = 5_000;
const SEEK_AGAIN_MS = 60_000;
const MAX_ERRORS = 10;
/** With a line before and after those of each file. */
const MAX_LINES = 3 * MAX_ERRORS;
/** Files whose errors did not come in time, or had no space. */
const MAX_LATE = 5;
/** So often in a row they did not come in time, and nothing came since: the next ones are hardly waited for. */
const MAX_MISSED = 3;
const SHORT_WAIT_MS = 100;
const MAX_CRASHES = 3;
const MAX_SERVERS = 2;
const IDLE_MS = 5 * 60_000;
const LOOK_EVERY_MS = 15_000;
const MIN_FREE_BYTES = 512 * 1024 * 1024;

interface Found {
  readonly kind: ServerKind;
  readonly line: string;
}

/** How often a server was looked for and failed. */
interface ServerTries {
  soughtAt: number;
  crashes: number;
  missed: number;
}

/** Of one language. */
interface Entry extends ServerTries {
  server: LanguageServer | undefined;
  /** After a command it is looked for again: that may have installed one. */
  finding: Promise<Found | 'none'> | undefined;
  /** The server's answers at the last edit. */
  answers: number;
  usedAt: number;
  /** Edited, and not reported yet. */
  late: readonly string[];
  /** What was reported of a file last. */
  readonly reported: Map<string, string>;
}

/** Of the words behind one edit. */
interface Bounds {
  readonly within: AbortSignal;
  /** How many errors may still be shown. */
  readonly space: { errors: number };
}

/**
 * What language servers of the sandbox say of edited files. Owns the servers, one a language: each starts with the first edit of a file of
 * its language and ends when it is not used, or memory is short. A server that is slow, hangs or crashes delays an edit by `WAIT_MS`, and
 * not again and again.
 */
export class Diagnostics {
  readonly #options: DiagnosticsOptions;
  readonly #entries = new Map<Language, Entry>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: DiagnosticsOptions) {
    this.#options = options;
  }

  /** The errors in these files in words, bounded; empty where there are none, or none are known in time. */
  async afterEdit(files: readonly EditedFile[], signal: AbortSignal): Promise<string> {
    const languages = new Set(files.flatMap(({ path }) => languageOf(path) ?? []));
    const within = AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]);
    for (const { server } of this.#entries.values()) {
      for (const { path, text } of files) server?.changed(path, text === undefined ? 'deleted' : 'changed');
    }
    const space = { errors: MAX_ERRORS };
    const reports = [...languages].map((language) =>
      this.#report(
        language,
        files.filter(({ path }) => languageOf(path) === language),
        { within, space },
      ),
    );
    return (await Promise.all(reports)).flat().slice(0, MAX_LINES).join('\n');
  }

  /** What lies in the workspace may be other by now, and another server may be on the PATH. */
  afterCommand(): void {
    for (const entry of this.#entries.values()) {
      if (!entry.server && performance.now() - entry.soughtAt > SEEK_AGAIN_MS) entry.finding = undefined;
      if (entry.server?.isBlind) this.#drop(entry);
    }
  }

  isUp(): boolean {
    return this.#servers().length > 0;
  }

  processes(): readonly number[] {
    return this.#servers().flatMap((server) => server.processes());
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const entry of this.#entries.values()) this.#drop(entry);
  }

  #servers(): readonly LanguageServer[] {
    return [...this.#entries.values()].flatMap(({ server }) => (server && !server.isOver ? [server] : []));
  }

  async #report(language: Language, files: readonly EditedFile[], { within, space }: Bounds): Promise<readonly string[]> {
    let entry = this.#entries.get(language);
    if (!entry) {
      entry = {
        server: undefined,
        finding: undefined,
        soughtAt: 0,
        crashes: 0,
        missed: 0,
        answers: 0,
        usedAt: 0,
        late: [],
        reported: new Map(),
      };
      this.#entries.set(language, entry);
    }
    entry.usedAt = performance.now();
    const server = await this.#serverOf(language, entry, within).catch(() => undefined);
    if (!server) return [];
    for (const { path, text } of files) if (text === undefined) server.hide(path);
    const shown = files.flatMap(({ path, text }) => (text === undefined ? [] : [{ path, text }]));
    for (const { path, text } of shown) server.show(path, text);
    const paths = [...new Set([...shown.map(({ path }) => path), ...entry.late])];
    if (server.answers !== entry.answers) entry.missed = 0;
    entry.answers = server.answers;
    const waits = entry.missed < MAX_MISSED ? within : AbortSignal.any([within, AbortSignal.timeout(SHORT_WAIT_MS)]);
    const answers = await Promise.all(paths.map(async (path) => ({ path, errors: await server.errorsOf(path, waits) })));
    entry.missed = answers.some(({ errors }) => errors === undefined) ? entry.missed + 1 : 0;
    const words = answers.map(({ path, errors }) => ({ path, lines: errors && this.#words(language, entry, { path, errors, space }) }));
    entry.late = words.flatMap(({ path, lines }) => (lines ? [] : [path])).slice(0, MAX_LATE);
    return words.flatMap(({ lines }) => lines ?? []);
  }

  /** Nothing where there is no space for any: then they come with a later edit. */
  #words(
    { name }: Language,
    { reported }: Entry,
    { path, errors, space }: { readonly path: string; readonly errors: readonly CodeError[]; readonly space: Bounds['space'] },
  ): readonly string[] | undefined {
    const place = relative(this.#options.workspace, path);
    const lines = errors.slice(0, MAX_ERRORS).map(({ line, column, message }) => `${line}:${column} ${message}`);
    const text = `${lines.join('\n')}${errors.length > MAX_ERRORS ? `\n${errors.length}` : ''}`;
    const before = reported.get(path) ?? '';
    const isNew = text !== '' && text !== before;
    if (isNew && space.errors === 0) return undefined;
    reported.set(path, text);
    if (text === '') return before === '' ? [] : [`[The ${name} language server reports no errors in ${place} any more.]`];
    if (!isNew) return [`[The ${name} language server reports the same errors in ${place} as before.]`];
    const shown = lines.slice(0, space.errors);
    space.errors -= shown.length;
    const rest = errors.length - shown.length;
    const more = rest > 0 ? [`and ${rest} more`] : [];
    return [`[The ${name} language server reports errors in ${place}, at line:column:]`, ...shown, ...more];
  }

  async #serverOf(language: Language, entry: Entry, within: AbortSignal): Promise<LanguageServer | undefined> {
    if (entry.server && !entry.server.isOver) return entry.server;
    if (entry.server) entry.crashes += 1;
    entry.server = undefined;
    if (entry.crashes >= MAX_CRASHES || isMemoryShort()) return undefined;
    const tools = await unlessAborted(this.#options.shell(), within);
    if (!tools) return undefined;
    if (!entry.finding) entry.soughtAt = performance.now();
    entry.finding ??= find(language, tools, this.#options.workspace);
    const result = await unlessAborted(entry.finding, within);
    if (result === undefined || result === 'none') return undefined;
    const { kind, line: found } = result;
    this.#makeRoom(entry);
    entry.server ??= new LanguageServer({ language, kind, found, workspace: this.#options.workspace, tools });
    entry.missed = 0;
    this.#watch();
    return entry.server;
  }

  /** The one that was used longest ago goes. */
  #makeRoom(except: Entry): void {
    const others = [...this.#entries.values()].filter((entry) => entry !== except && entry.server && !entry.server.isOver);
    if (others.length >= MAX_SERVERS) this.#drop(others.toSorted((a, b) => a.usedAt - b.usedAt)[0]!);
  }

  #watch(): void {
    this.#timer ??= setInterval(() => {
      const isShort = isMemoryShort();
      for (const entry of this.#entries.values()) if (isShort || performance.now() - entry.usedAt > IDLE_MS) this.#drop(entry);
      if (this.#servers().length > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    }, LOOK_EVERY_MS).unref();
  }

  /** It ends as it should: that is no crash. */
  #drop(entry: Entry): void {
    entry.server?.end();
    entry.server = undefined;
    entry.late = [];
  }
}

/** Programs of the sandbox print it, as the agent's own. */
async function find(language: Language, tools: Pick<ShellTools, 'detached' | 'place'>, workspace: string): Promise<Found | 'none'> {
  const child = spawnDetached(tools.detached, tools.place(), findScript(language), workspace, 'pipe');
  let printed = '';
  child.stderr?.resume();
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (printed = (printed + text).slice(0, 4096)));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()).once('error', () => resolve()));
  await Promise.race([ended, delay(FIND_MS, undefined, { ref: false })]);
  killGroup(child, 'SIGKILL');
  const [, index, line = ''] = /^(\d+) (.*)$/m.exec(printed) ?? [];
  const kind = index === undefined ? undefined : language.servers[Number(index)];
  return kind ? { kind, line } : 'none';
}

/** Of the machine: a server that is beyond the limit of its sandbox alone goes first when that is enforced. */
function isMemoryShort(): boolean {
  try {
    const free = Number(/^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'latin1'))?.[1]) * 1024;
    return free < MIN_FREE_BYTES;
  } catch {
    return false;
  }
}
