import { TerminalText } from '../shell/terminal/terminal-text.ts';
import type { JupyterMessage } from './jupyter-message.ts';
import { readRichOutput } from './rich-output.ts';

/** How a cell came to its end. `died`: the kernel did. */
type CellEnd = 'ok' | 'error' | 'died';

/**
 * One cell while it runs: what it printed so far, bounded, and whether it has ended. Knows nothing of sockets and timeouts.
 *
 * 1. Text is kept as `run` keeps it: first and last half of 30,000 characters, without escape sequences.
 * 2. Images are kept up to `MAX_IMAGES` and `MAX_IMAGE_CHARS` in all; the text says when some were left out.
 */
export interface Cell {
  ended: CellEnd | undefined;
  /** The kernel works on it: from now on an interrupt reaches it. */
  hasBegun: boolean;
  /** Milliseconds of `performance.now()`. */
  lastOutputAt: number;
  /** Called with raw output as it comes; set by whoever waits. */
  onOutput: ((text: string) => void) | undefined;
  onBegin: (() => void) | undefined;
  onEnd: (() => void) | undefined;
  print(text: string): void;
  /** A message of the channel on which kernels publish. */
  show(message: JupyterMessage): void;
  end(how: CellEnd): void;
  /** What came since the last take. */
  take(): { readonly text: string; readonly images: readonly string[] };
}

const MAX_IMAGES = 16;
const MAX_IMAGE_CHARS = 8 * 1024 * 1024;

export function createCell(chars?: number): Cell {
  let text: TerminalText = new TerminalText(chars);
  let images: string[] = [];
  let imageChars = 0;
  let isClearedNext = false;

  function print(piece: string): void {
    if (isClearedNext) clear();
    text.write(piece);
    cell.lastOutputAt = performance.now();
    cell.onOutput?.(piece);
  }

  function clear(): void {
    isClearedNext = false;
    text = new TerminalText(chars);
    images = [];
    imageChars = 0;
  }

  function rich(data: unknown): void {
    const { text: readable, image } = readRichOutput(data);
    if (readable !== '') print(`${readable}\n`);
    if (image === undefined) return;
    if (isClearedNext) clear();
    const isKept = images.length < MAX_IMAGES && imageChars + image.length <= MAX_IMAGE_CHARS;
    if (!isKept) return print('[An image was left out: the cell shows too many or too large ones.]\n');
    images.push(image);
    imageChars += image.length;
    cell.lastOutputAt = performance.now();
  }

  function begin(): void {
    cell.hasBegun = true;
    cell.onBegin?.();
  }

  const cell: Cell = {
    ended: undefined,
    hasBegun: false,
    lastOutputAt: performance.now(),
    onOutput: undefined,
    onBegin: undefined,
    onEnd: undefined,
    print,
    show({ type, content, isDropped }) {
      if (isDropped) return print('\n[An output of more than 64 MiB at once was left out.]\n');
      if (type === 'execute_input') begin();
      else if (type === 'stream') print(String(content.text ?? ''));
      else if (type === 'display_data' || type === 'execute_result' || type === 'update_display_data') rich(content.data);
      else if (type === 'error') print(`${tracebackOf(content)}\n`);
      else if (type === 'clear_output' && content.wait === true) isClearedNext = true;
      else if (type === 'clear_output') clear();
    },
    end(how) {
      if (cell.ended !== undefined) return;
      cell.ended = how;
      cell.onEnd?.();
    },
    take() {
      const taken = { text: text.take().trimEnd(), images };
      clear();
      return taken;
    },
  };
  return cell;
}

function tracebackOf({ traceback, ename, evalue }: JupyterMessage['content']): string {
  const lines = Array.isArray(traceback) ? traceback.map(String).join('\n') : '';
  return lines === '' ? `${String(ename)}: ${String(evalue)}` : lines;
}
