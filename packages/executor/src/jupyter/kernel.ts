import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { abortable } from '@tendon/protocol/async';
import type { Cell } from './cell.ts';
import { decodeMessage, encodeRequest, type JupyterMessage } from './jupyter-message.ts';
import type { KernelEnd, KernelProcess } from './kernel-process.ts';
import { connectZmtp, type ZmtpSocket } from './zmtp-socket.ts';

/**
 * A kernel that answers. Owns the two connections to it (requests, and what it publishes) and the cell that runs in it.
 *
 * 1. At most one cell runs. It has ended when the kernel has answered the request and says that it is idle, or is dead. That word is
 *    lost for good when a cell shows very many outputs: what the kernel publishes of a later request comes behind all of the cell.
 * 2. What threads of earlier cells print belongs to the cell that runs, or to the next one.
 * 3. A kernel that has ended stays ended; a new one is somebody else's to start.
 */
export interface Kernel {
  readonly current: Cell | undefined;
  readonly process: KernelProcess;
  /** The path of its Python. */
  readonly interpreter: string;
  /** Only when nothing runs. In a kernel that has ended the cell has, too. */
  run(cell: Cell, code: string, options?: { readonly isSilent: boolean }): void;
  close(): void;
}

const READY_DEADLINE_MS = 60_000;
const RETRY_MS = 10;
/** A subscription takes effect some time after it was made: the kernel is asked again until it is heard on both ways. */
const ASK_AGAIN_MS = 10;
/** How long all may be silent between the answer and the word "idle" before the kernel is asked for a sign. */
const SILENT_MS = 2000;
/** A kernel that was told to exit does so by itself, or else. */
const EXIT_MS = 10_000;
/** Of what threads print between two cells. */
const MAX_BETWEEN_CHARS = 30_000;

/** Rejects with the kernel's last words when it does not come up. */
export async function openKernel(process: KernelProcess, signal: AbortSignal): Promise<Kernel> {
  const deadline = AbortSignal.any([AbortSignal.timeout(READY_DEADLINE_MS), signal]);
  const dead = process.ended.then((end) => Promise.reject(new KernelFailed(end)));
  dead.catch(() => {}); // it may end any time later
  try {
    const kernel = await Promise.race([dead, connectKernel(process, deadline)]);
    process.removeFolder();
    return kernel;
  } catch (error) {
    process.kill();
    if (signal.aborted) throw new Error('it was cancelled', { cause: error });
    if (deadline.aborted) throw new Error(`no answer within ${READY_DEADLINE_MS / 1000} seconds`, { cause: error });
    throw error;
  }
}

interface RunningCell {
  readonly cell: Cell;
  readonly id: string;
  hasReply: boolean;
  isIdle: boolean;
  /** Of requests after its answer. */
  readonly laterIds: Set<string>;
  status: 'ok' | 'error';
}

/** The process ended before it was ready. */
export class KernelFailed extends Error {
  readonly end: KernelEnd;

  constructor(end: KernelEnd) {
    super(end.tail.trim() || `it ended at once (${end.signal ?? `exit code ${end.code}`})`);
    this.end = end;
  }
}

async function connectKernel(process: KernelProcess, deadline: AbortSignal): Promise<Kernel> {
  let cell: RunningCell | undefined;
  let isOver = false;
  let between = '';
  let isHeard = false; // published something: the subscription works
  let publishedAt = 0; // when it last did
  let onReply: ((message: JupyterMessage) => void) | undefined;

  function settle(): void {
    if (cell === undefined || !cell.hasReply || !cell.isIdle) return;
    const { cell: done, status } = cell;
    cell = undefined;
    done.end(status);
  }

  /** What a cell has shown may still be on its way long after the answer; silence proves nothing on a busy machine. */
  function askWhenSilent(answered: RunningCell): void {
    if (cell !== answered) return;
    const silentMs = performance.now() - publishedAt;
    if (silentMs >= SILENT_MS) {
      const { id, frames } = encodeRequest('kernel_info_request', {}, process.key);
      answered.laterIds.add(id);
      shell.send(frames);
    }
    setTimeout(() => askWhenSilent(answered), silentMs < SILENT_MS ? SILENT_MS - silentMs : SILENT_MS).unref();
  }

  function onPublished(message: JupyterMessage): void {
    isHeard = true;
    publishedAt = performance.now();
    if (message.type === 'status') {
      if (cell === undefined) return;
      const isIdle = message.parentId === cell.id && message.content.execution_state === 'idle';
      if (!isIdle && !cell.laterIds.has(message.parentId)) return;
      cell.isIdle = true;
      return settle();
    }
    if (cell !== undefined) cell.cell.show(message);
    else if (message.type === 'stream') between = (between + String(message.content.text ?? '')).slice(-MAX_BETWEEN_CHARS);
  }

  function onAnswer(message: JupyterMessage): void {
    if (message.type !== 'execute_reply') return onReply?.(message);
    if (cell === undefined || message.parentId !== cell.id) return onReply?.(message);
    const payloads = payloadsOf(message);
    // After `exit` it ends by itself, or else: the cell ends with it.
    if (payloads.some(({ source }) => source === 'ask_exit')) return void setTimeout(process.kill, EXIT_MS).unref();
    cell.hasReply = true;
    publishedAt = performance.now();
    cell.status = message.content.status === 'ok' ? 'ok' : 'error';
    for (const { source, data } of payloads) {
      if (source === 'page') cell.cell.show({ ...message, type: 'display_data', content: { data } });
    }
    askWhenSilent(cell);
    settle();
  }

  const listen = (channel: 'shell' | 'iopub', onMessage: (message: JupyterMessage) => void): Promise<ZmtpSocket> =>
    connectWhenThere(process.socketPath(channel), deadline, {
      type: channel === 'shell' ? 'DEALER' : 'SUB',
      identity: 'tendon',
      onMessage: (frames) => {
        const message = decodeMessage(frames, process.key);
        if (message !== undefined) onMessage(message);
      },
      onClose: () => {},
    });
  const [shell, published] = await Promise.all([listen('shell', onAnswer), listen('iopub', onPublished)]);
  const close = (): void => {
    shell.close();
    published.close();
  };
  const onEnded = async (): Promise<void> => {
    await process.ended;
    await delay(RETRY_MS); // what it still said is read before its silence is believed
    close();
    isOver = true;
    cell?.cell.end('died');
    cell = undefined;
  };
  void onEnded();

  /** Asks until it is answered; the last answer. */
  async function ask(type: string, content: object, isEnough: () => boolean): Promise<JupyterMessage> {
    for (;;) {
      deadline.throwIfAborted();
      const answered = new Promise<JupyterMessage>((resolve) => (onReply = resolve));
      shell.send(encodeRequest(type, content, process.key).frames);
      const answer = await abortable(answered, deadline);
      onReply = undefined;
      if (isEnough()) return answer;
      await delay(ASK_AGAIN_MS, undefined, { signal: deadline });
    }
  }

  await ask('kernel_info_request', {}, () => isHeard);
  const python = { python: "__import__('sys').executable" };
  const about = await ask('execute_request', { ...EXECUTE, code: '', silent: true, user_expressions: python }, () => true);

  return {
    get current() {
      return cell?.cell;
    },
    process,
    interpreter: interpreterOf(about),
    run(next, code, options) {
      if (isOver) return next.end('died');
      if (between !== '') next.print(between);
      between = '';
      const { id, frames } = encodeRequest('execute_request', { ...EXECUTE, code, ...(options?.isSilent && UNSEEN) }, process.key);
      cell = { cell: next, id, hasReply: false, isIdle: false, laterIds: new Set(), status: 'ok' };
      shell.send(frames);
    },
    close() {
      close();
      process.kill();
    },
  };
}

/** Without stdin `input()` raises an error at once; with `stop_on_error` a kernel would drop what is asked shortly after an error. */
/** Shown to nobody and in no history. */
const UNSEEN = { silent: true, store_history: false };
const EXECUTE = { silent: false, store_history: true, user_expressions: {}, allow_stdin: false, stop_on_error: false };

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
