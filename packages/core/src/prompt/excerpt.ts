/**
 * Long messages of the user and long results: the log has them whole, the model is shown their beginning, their end and the path of a
 * file with all of it. The file is named by its content, so every conversation, restart and repetition refers to the same one.
 */
import { OUTPUT_FOLDER } from '@tendon/protocol/executor-api';
import type { TextEntry } from './entry.ts';

/** Where the workspace is inside the sandbox. */
export const WORKSPACE = '/workspace';
/** In the workspace; its `.gitignore` keeps it out of what the user commits. */
const LONG_MESSAGES = '.tendon/messages';

/**
 * A message up to this length is shown whole in any window, also after a condensation.
 * @internal
 */
export const ALWAYS_WHOLE_CHARS = 8 * 1024;
const SHOWN_CHARS = 8_000;
const SHOWN_WHEN_OLD_CHARS = 4_000;
/** The assumed window of a model whose window is not known. */
const USUAL_WINDOW_TOKENS = 128_000;
const CHARS_PER_TOKEN = 4;

/** A longer message would leave too little of the model's window for the work: an eighth of it. */
export function maxMessageChars(contextWindow: number | undefined): number {
  return Math.max(ALWAYS_WHOLE_CHARS, Math.floor((contextWindow ?? USUAL_WINDOW_TOKENS) / 8) * CHARS_PER_TOKEN);
}

/** The path of the file with a long message; nothing for a message that is always shown whole. */
export function fileOf(text: string): string | undefined {
  if (text.length <= ALWAYS_WHOLE_CHARS) return undefined;
  return `${LONG_MESSAGES}/${text.length}-${hashOf(text)}.txt`;
}

/** What is shown of a result, about 8,000 tokens: as much as of a command's output, which the executor shortens itself. */
const MAX_RESULT_CHARS = 30_000;

/** A result as the model is shown it, with the file that has all of it where that is more. */
export function shownResult(text: string): { readonly text: string; readonly file?: string } {
  if (text.length <= MAX_RESULT_CHARS) return { text };
  // Beside the outputs of commands: a workspace may be read-only, and the user's is not for this.
  const file = `${OUTPUT_FOLDER}/result-${text.length}-${hashOf(text)}.txt`;
  return {
    text: bothEnds(text, MAX_RESULT_CHARS - MAX_MARK_CHARS, `this result are left out here. All of it is in the file ${file}`),
    file,
  };
}

/** More than the line between both ends has. */
const MAX_MARK_CHARS = 200;

/** 64 bits, mixed as FNV-1a does: they distinguish messages, no more. This part of core has no Node builtin, and a view cannot wait for `crypto.subtle`. */
function hashOf(text: string): string {
  let [low, high] = [0x811c9dc5, 0x9747b28c];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit ^ (low >>> 15), 0x85ebca6b);
  }
  return [low, high].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}

/** What is shown of a message that is longer than `maxChars`. */
export function excerpt(entry: TextEntry, maxChars: number): TextEntry {
  if (entry.file === undefined || entry.isExcerpt || entry.text.length <= maxChars) return entry;
  return cut(entry, SHOWN_CHARS);
}

/** What a condensation leaves of a message; the rest is in the summary and in the file. */
export function oldExcerpt(entry: TextEntry): TextEntry {
  return entry.file === undefined || entry.isExcerpt ? entry : cut(entry, SHOWN_WHEN_OLD_CHARS);
}

function cut(entry: TextEntry, shownChars: number): TextEntry {
  const words = `this message are left out here. All of it is in the file ${WORKSPACE}/${entry.file}`;
  return { ...entry, text: bothEnds(entry.text, shownChars, words), isExcerpt: true };
}

function bothEnds(text: string, shownChars: number, words: string): string {
  const half = shownChars / 2;
  const mark = `\n[... ${text.length - 2 * half} characters of ${words} ...]\n`;
  return text.slice(0, half).toWellFormed() + mark + text.slice(-half).toWellFormed();
}
