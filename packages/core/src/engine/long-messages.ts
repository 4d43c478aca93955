/**
 * Writes long messages of the user and long results to files, before the model is shown their paths. Owns what this process has tried.
 *
 * 1. A file is named by its content and written whole or not at all: an existing one is left alone, also after a restart.
 * 2. A file that cannot be written is tried once per process, and an event reports it to the user and, permanently, to the model.
 * 3. A home can end with its sandbox: what is to be there is looked for again when another sandbox is used.
 */
import { isAction, isObservation } from '@tendon/protocol';
import { OUTPUT_FOLDER } from '@tendon/protocol/executor-api';
import type { EventLog } from '../log/event-log.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { WorkspaceFiles } from '../sandbox/runtime.ts';
import { WORKSPACE } from '../prompt/excerpt.ts';
import { wholeText } from '../prompt/make-entries.ts';
import { MESSAGE_NOT_STORED } from '../prompt/say-observation.ts';
import type { Excerpt } from '../prompt/assemble.ts';
import type { FoldedLog } from './folded-log.ts';
import { engineError } from './notices.ts';

/** For one file; the sandbox has its own time to start. */
const WRITE_MS = 30_000;
/** In the workspace, where messages are; covers itself and their folder. */
const IGNORE = '.tendon/.gitignore';

interface Ports {
  readonly log: EventLog;
  readonly folded: FoldedLog;
  readonly sandbox: Sandbox;
}

export class LongMessages {
  readonly #ports: Ports;
  /** With the incarnation of the sandbox, as far as one was there. */
  readonly #tried = new Map<string, string | undefined>();

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** True when an event was appended that the model must see. Rejects only with the storage's error. */
  async store(excerpts: readonly Excerpt[], signal: AbortSignal): Promise<boolean> {
    let isReported = false;
    for (const { eventId, file } of excerpts) {
      const now = isOfHome(file) ? this.#ports.sandbox.incarnation() : undefined;
      if (this.#tried.has(file) && (now === undefined || this.#tried.get(file) === now)) continue;
      const failure = await this.#write(eventId, file, signal);
      if (signal.aborted) return isReported;
      const isFirst = !this.#tried.has(file);
      this.#tried.set(file, this.#ports.sandbox.incarnation());
      if (failure !== undefined && isFirst) isReported = (await this.#report(file, failure)) || isReported;
    }
    return isReported;
  }

  /** Why it could not be written. */
  async #write(eventId: number, file: string, signal: AbortSignal): Promise<string | undefined> {
    const acquired = await this.#ports.sandbox.acquire(signal);
    if (!acquired.ok) return acquired.reason;
    const { files } = acquired.runtime;
    const within = AbortSignal.any([signal, AbortSignal.timeout(WRITE_MS)]);
    try {
      if (await isThere(files, file, within)) return undefined;
      const text = await textOfEvent(this.#ports.log, eventId);
      if (!isOfHome(file) && !(await isThere(files, IGNORE, within)))
        await files.write(IGNORE, new TextEncoder().encode('*\n'), { signal: within });
      await files.write(file, new TextEncoder().encode(text), { signal: within });
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  async #report(file: string, reason: string): Promise<boolean> {
    const what = isOfHome(file)
      ? `${file}, which was to hold all of a long result`
      : `${WORKSPACE}/${file}, which was to hold all of a long message of the user`;
    const words = `The file ${what}, could not be written: ${reason}`;
    const appended = await this.#ports.folded.append((state) => (state.requested ? [] : [engineError(words, MESSAGE_NOT_STORED)]));
    return appended.length > 0;
  }
}

async function isThere(files: WorkspaceFiles, path: string, signal: AbortSignal): Promise<boolean> {
  const at = path.lastIndexOf('/');
  const names: readonly string[] = await files.list(path.slice(0, at), { signal }).catch(() => []);
  return names.includes(path.slice(at + 1));
}

function isOfHome(file: string): boolean {
  return file.startsWith(OUTPUT_FOLDER);
}

/** As the view has it. */
async function textOfEvent(log: EventLog, id: number): Promise<string> {
  const [event] = await log.read({ from: id, limit: 1 });
  const text = event && (isAction(event) || isObservation(event)) ? wholeText(event) : undefined;
  if (text === undefined) throw new Error(`event ${id} cannot be read`);
  return text;
}
