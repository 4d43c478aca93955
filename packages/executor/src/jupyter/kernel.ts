import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { abortable } from '@tendon/protocol/async';
import type { Cell } from './cell.ts';
import { decodeMessage, encodeRequest, type JupyterMessage } from './jupyter-message.ts';
import type { KernelEnd, KernelProcess } from './kernel-process.ts';
import { connectZmtp, type ZmtpSocket } from './zmtp-socket.ts';

const READY_DEADLINE_MS = 60_000;
const RETRY_MS = 10;
/** A subscription takes effect some time after it was made: the kernel is asked again until it is heard on both ways. */
const ASK_AGAIN_MS = 10;
/** How long all may be silent between the answer and the word "idle" before the kernel is asked for a sign. */
const SILENT_MS = 2000;
/** A kernel that was asked to exit has so long, then it is killed. */
const EXIT_MS = 10_000;
/** Of what threads print between two cells. */
const MAX_BETWEEN_CHARS = 30_000;
/** Without stdin `input()` raises an error at once; with `stop_on_error` a kernel would drop what is asked shortly after an error. */
const EXECUTE = { silent: false, store_history: true, user_expressions: {}, allow_stdin: false, stop_on_error: false };
/** Shown to nobody and in no history. */
const UNSEEN = { silent: true, store_history: false };

/** The cell that runs, and what the kernel has reported of it. */
interface CurrentCell {
  readonly cell: Cell;
  readonly id: string;
  hasReply: boolean;
  isIdle: boolean;
  /** Of requests after its answer. */
  readonly laterIds: Set<string>;
  status: 'ok' | 'error';
}

/**
 * A kernel that answers. Owns the two connections to it (requests, and what it publishes) and the cell that runs in it.
 *
 * 1. At most one cell runs. It has ended when the kernel has answered the request and says that it is idle, or is dead. That word is
 *    lost for good when a cell shows very many outputs: what the kernel publishes of a later request comes behind all of the cell.
 * 2. What threads of earlier cells print belongs to the cell that runs, or to the next one.
 * 3. A kernel that has ended stays ended; a new one is somebody else's to start.
 */
export class Kernel {
  readonly process: KernelProcess;
  #cell: CurrentCell | undefined;
  #shell: ZmtpSocket | undefined;
  #published: ZmtpSocket | undefined;
  #interpreter = '';
  /** It has ended. */
  #isOver = false;
  /** Printed while no cell ran. */
  #between = '';
  /** It has published something: the subscription works. */
  #isHeard = false;
  /** When it last did. */
  #publishedAt = 0;
  #onReply: ((message: JupyterMessage) => void) | undefined;

  private constructor(process: KernelProcess) {
    this.process = process;
  }

  /** Resolves when it answers on both ways. */
  static async connect(process: KernelProcess, deadline: AbortSignal): Promise<Kernel> {
    const kernel = new Kernel(process);
    await kernel.#connect(deadline);
    return kernel;
  }

  get current(): Cell | undefined {
    return this.#cell?.cell;
  }

  /** The path of its Python. */
  get interpreter(): string {
    return this.#interpreter;
  }

  /** Only when nothing runs. In a kernel that has ended the cell has, too. */
  run(next: Cell, code: string, options?: { readonly isSilent: boolean }): void {
    if (this.#isOver) return next.end('died');
    if (this.#between !== '') next.print(this.#between);
    this.#between = '';
    const request = { ...EXECUTE, code, ...(options?.isSilent && UNSEEN) };
    const { id, frames } = encodeRequest('execute_request', request, this.process.connection.key);
    this.#cell = { cell: next, id, hasReply: false, isIdle: false, laterIds: new Set(), status: 'ok' };
    this.#shell?.send(frames);
  }

  close(): void {
    this.#disconnect();
    this.process.kill();
  }

  async #connect(deadline: AbortSignal): Promise<void> {
    [this.#shell, this.#published] = await Promise.all([
      this.#listen('shell', deadline, (message) => this.#onAnswer(message)),
      this.#listen('iopub', deadline, (message) => this.#onPublished(message)),
    ]);
    void this.process.ended.then(() => this.#onEnded());
    await this.#ask(deadline, 'kernel_info_request', {}, () => this.#isHeard);
    const python = { python: "__import__('sys').executable" };
    const question = { ...EXECUTE, code: '', silent: true, user_expressions: python };
    this.#interpreter = interpreterOf(await this.#ask(deadline, 'execute_request', question, () => true));
  }

  #listen(channel: 'shell' | 'iopub', deadline: AbortSignal, onMessage: (message: JupyterMessage) => void): Promise<ZmtpSocket> {
    return connectWhenThere(this.process.connection.socketPath(channel), deadline, {
      type: channel === 'shell' ? 'DEALER' : 'SUB',
      identity: 'tendon',
      onMessage: (frames) => {
        const message = decodeMessage(frames, this.process.connection.key);
        if (message !== undefined) onMessage(message);
      },
      onClose: () => {},
    });
  }

  #disconnect(): void {
    this.#shell?.close();
    this.#published?.close();
  }

  async #onEnded(): Promise<void> {
    await delay(RETRY_MS); // its last messages are read before its silence is believed
    this.#disconnect();
    this.#isOver = true;
    this.#cell?.cell.end('died');
    this.#cell = undefined;
  }

  #settle(): void {
    if (this.#cell === undefined || !this.#cell.hasReply || !this.#cell.isIdle) return;
    const { cell: done, status } = this.#cell;
    this.#cell = undefined;
    done.end(status);
  }

  /** What a cell has shown may still be on its way long after the answer; silence proves nothing on a busy machine. */
  #askWhenSilent(answered: CurrentCell): void {
    if (this.#cell !== answered) return;
    const silentMs = performance.now() - this.#publishedAt;
    if (silentMs >= SILENT_MS) {
      const { id, frames } = encodeRequest('kernel_info_request', {}, this.process.connection.key);
      answered.laterIds.add(id);
      this.#shell?.send(frames);
    }
    setTimeout(() => this.#askWhenSilent(answered), silentMs < SILENT_MS ? SILENT_MS - silentMs : SILENT_MS).unref();
  }

  #onPublished(message: JupyterMessage): void {
    this.#isHeard = true;
    this.#publishedAt = performance.now();
    if (message.type === 'status') {
      if (this.#cell === undefined) return;
      const isIdle = message.parentId === this.#cell.id && message.content.execution_state === 'idle';
      if (!isIdle && !this.#cell.laterIds.has(message.parentId)) return;
      this.#cell.isIdle = true;
      return this.#settle();
    }
    if (this.#cell !== undefined) this.#cell.cell.show(message);
    else if (message.type === 'stream') this.#between = (this.#between + String(message.content.text ?? '')).slice(-MAX_BETWEEN_CHARS);
  }

  #onAnswer(message: JupyterMessage): void {
    if (message.type !== 'execute_reply') return this.#onReply?.(message);
    if (this.#cell === undefined || message.parentId !== this.#cell.id) return this.#onReply?.(message);
    const payloads = payloadsOf(message);
    // After `exit` it ends by itself, or else: the cell ends with it.
    if (payloads.some(({ source }) => source === 'ask_exit')) return void setTimeout(() => this.process.kill(), EXIT_MS).unref();
    this.#cell.hasReply = true;
    this.#publishedAt = performance.now();
    this.#cell.status = message.content.status === 'ok' ? 'ok' : 'error';
    for (const { source, data } of payloads) {
      if (source === 'page') this.#cell.cell.show({ ...message, type: 'display_data', content: { data } });
    }
    this.#askWhenSilent(this.#cell);
    this.#settle();
  }

  /** Asks until it is answered; the last answer. */
  async #ask(deadline: AbortSignal, type: string, content: object, isEnough: () => boolean): Promise<JupyterMessage> {
    for (;;) {
      deadline.throwIfAborted();
      const answered = new Promise<JupyterMessage>((resolve) => (this.#onReply = resolve));
      this.#shell?.send(encodeRequest(type, content, this.process.connection.key).frames);
      const answer = await abortable(answered, deadline);
      this.#onReply = undefined;
      if (isEnough()) return answer;
      await delay(ASK_AGAIN_MS, undefined, { signal: deadline });
    }
  }
}

/** Rejects with the kernel's last words when it does not come up. */
export async function openKernel(process: KernelProcess, signal: AbortSignal): Promise<Kernel> {
  const deadline = AbortSignal.any([AbortSignal.timeout(READY_DEADLINE_MS), signal]);
  const dead = process.ended.then((end) => Promise.reject(new KernelFailed(end)));
  dead.catch(() => {}); // it may end any time later
  try {
    const kernel = await Promise.race([dead, Kernel.connect(process, deadline)]);
    process.connection.removeFolder();
    return kernel;
  } catch (error) {
    process.kill();
    if (signal.aborted) throw new Error('it was cancelled', { cause: error });
    if (deadline.aborted) throw new Error(`no answer within ${READY_DEADLINE_MS / 1000} seconds`, { cause: error });
    throw error;
  }
}

/** The process ended before it was ready. */
export class KernelFailed extends Error {
  readonly end: KernelEnd;

  constructor(end: KernelEnd) {
    super(end.tail.trim() || `it ended at once (${end.signal ?? `exit code ${end.code}`})`);
    this.end = end;
  }
}

async function connectWhenThere(
  path: string,
  deadline: AbortSignal,
  options: Omit<Parameters<typeof connectZmtp>[0], 'path'>,
): Promise<ZmtpSocket> {
  for (;;) {
    if (existsSync(path)) {
      const socket = await connectZmtp({ ...options, path }).catch(() => undefined);
      if (socket !== undefined) return socket;
    }
    await delay(RETRY_MS, undefined, { signal: deadline });
  }
}

function payloadsOf({ content }: JupyterMessage): readonly { readonly source?: unknown; readonly data?: unknown }[] {
  return Array.isArray(content.payload) ? content.payload.filter((each) => typeof each === 'object' && each !== null) : [];
}

function interpreterOf({ content }: JupyterMessage): string {
  const expressions = content.user_expressions as { python?: { data?: Record<string, unknown> } } | undefined;
  const text = expressions?.python?.data?.['text/plain'];
  return typeof text === 'string' ? text.replaceAll(/^'|'$/g, '') : '';
}
