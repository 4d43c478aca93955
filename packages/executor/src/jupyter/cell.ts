import { TerminalText } from '../shell/terminal/terminal-text.ts';
import type { JupyterMessage } from './jupyter-message.ts';

/** How a cell came to its end. `died`: the kernel did. */
type CellEnd = 'ok' | 'error' | 'died';

const MAX_IMAGES = 16;
const MAX_IMAGE_CHARS = 8 * 1024 * 1024;

/**
 * One cell while it runs: what it printed so far, bounded, and whether it has ended. Knows nothing of sockets and timeouts.
 *
 * 1. Text is bounded as `run` bounds it: first and last half of 30,000 characters, without escape sequences.
 * 2. Images are collected up to `MAX_IMAGES` and `MAX_IMAGE_CHARS` in all; the text says when some were left out.
 */
export class Cell {
  ended: CellEnd | undefined;
  /** The kernel works on it: from now on an interrupt reaches it. */
  hasBegun = false;
  /** Milliseconds of `performance.now()`. */
  lastOutputAt = performance.now();
  /** Called with raw output as it comes; set by the caller that waits. */
  onOutput: ((text: string) => void) | undefined;
  onBegin: (() => void) | undefined;
  onEnd: (() => void) | undefined;
  readonly #chars: number | undefined;
  #text: TerminalText;
  #images: string[] = [];
  #imageChars = 0;
  #isClearedNext = false;

  constructor(chars?: number) {
    this.#chars = chars;
    this.#text = new TerminalText(chars);
  }

  print(piece: string): void {
    if (this.#isClearedNext) this.#clear();
    this.#text.write(piece);
    this.lastOutputAt = performance.now();
    this.onOutput?.(piece);
  }

  /** A message of the channel on which kernels publish. */
  show({ type, content, isDropped }: JupyterMessage): void {
    if (isDropped) return this.print('\n[An output of more than 64 MiB at once was left out.]\n');
    if (type === 'execute_input') this.#begin();
    else if (type === 'stream') this.print(String(content.text ?? ''));
    else if (type === 'display_data' || type === 'execute_result' || type === 'update_display_data') this.#showRich(content.data);
    else if (type === 'error') this.print(`${tracebackOf(content)}\n`);
    else if (type === 'clear_output' && content.wait === true) this.#isClearedNext = true;
    else if (type === 'clear_output') this.#clear();
  }

  end(how: CellEnd): void {
    if (this.ended !== undefined) return;
    this.ended = how;
    this.onEnd?.();
  }

  /** What came since the last take. `whole` is where all of it can be read. */
  take(whole?: string): { readonly text: string; readonly images: readonly string[] } {
    const taken = { text: this.#text.take(whole).trimEnd(), images: this.#images };
    this.#clear();
    return taken;
  }

  #begin(): void {
    this.hasBegun = true;
    this.onBegin?.();
  }

  #clear(): void {
    this.#isClearedNext = false;
    this.#text = new TerminalText(this.#chars);
    this.#images = [];
    this.#imageChars = 0;
  }

  #showRich(data: unknown): void {
    const { text: readable, image } = readRichOutput(data);
    if (readable !== '') this.print(`${readable}\n`);
    if (image === undefined) return;
    if (this.#isClearedNext) this.#clear();
    const fits = this.#images.length < MAX_IMAGES && this.#imageChars + image.length <= MAX_IMAGE_CHARS;
    if (!fits) return this.print('[An image was left out: the cell shows too many or too large ones.]\n');
    this.#images.push(image);
    this.#imageChars += image.length;
    this.lastOutputAt = performance.now();
  }
}

function tracebackOf({ traceback, ename, evalue }: JupyterMessage['content']): string {
  const lines = Array.isArray(traceback) ? traceback.map(String).join('\n') : '';
  return lines === '' ? `${String(ename)}: ${String(evalue)}` : lines;
}

/** What one output of a cell says to a model that reads text and may see images. */
export interface RichOutput {
  readonly text: string;
  /** A data URL. */
  readonly image?: string;
}

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
/** The way objects say that they are meant to be seen rather than read. */
const ONLY_A_NAME = /^<[\w.]*\.(HTML|Markdown|Latex|SVG|Image|JavaScript|Javascript|Video|Audio|IFrame) object>$/;

/** Reduces a MIME bundle of Jupyter to its most readable form. @internal */
export function readRichOutput(data: unknown): RichOutput {
  const bundle = typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};
  const plain = textOf(bundle['text/plain']);
  const image = IMAGES.find((type) => typeof bundle[type] === 'string');
  if (image !== undefined)
    return {
      text: plain === '' || ONLY_A_NAME.test(plain) ? '[An image.]' : plain,
      image: `data:${image};base64,${(bundle[image] as string).replaceAll(/\s/g, '')}`,
    };
  const markdown = textOf(bundle['text/markdown']);
  if (markdown !== '') return { text: markdown };
  if (plain !== '' && !ONLY_A_NAME.test(plain)) return { text: plain };
  const html = textOf(bundle['text/html']);
  const others = [textOf(bundle['text/latex']), json(bundle['application/json']), plain];
  return { text: html === '' ? (others.find((text) => text !== '') ?? '') : withoutTags(html) };
}

/** Notebooks may give a text as a list of lines. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join('');
  return typeof value === 'string' ? value : '';
}

function json(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value);
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'", nbsp: ' ' };
const MAX_HTML = 200_000;

function withoutTags(html: string): string {
  return html
    .slice(0, MAX_HTML)
    .replaceAll(/<(script|style)\b[\s\S]*?(?:<\/\1>|$)/gi, '')
    .replaceAll(/<(?:br|\/p|\/div|\/li|\/tr|\/h[1-6])\b[^>]*>/gi, '\n')
    .replaceAll(/<\/t[dh]>/gi, '\t')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(lt|gt|amp|quot|#39|nbsp);/g, (_entity, name: string) => ENTITIES[name]!)
    .replaceAll(/[ \t]+\n/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}
