import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What fits into an answer, of a text that may be as long as a book; the whole is kept in a file that tools can read. */
export function fitted(text: string, maxChars: number, folder: string): string {
  if (text.length <= maxChars) return text;
  const path = keepWhole(text, folder);
  const head = text.slice(0, maxChars).toWellFormed();
  return `${head}\n\n[The page goes on: ${text.length - maxChars} more characters. The whole of it is in ${path}]`;
}

const KEPT_PAGES = 20;
const MAX_KEPT_CHARS = 20 * 1024 * 1024;
let kept = 0;

function keepWhole(text: string, folder: string): string {
  mkdirSync(folder, { recursive: true });
  const old = readdirSync(folder).toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }));
  for (const name of old.slice(0, Math.max(0, old.length + 1 - KEPT_PAGES))) rmSync(join(folder, name), { force: true });
  kept += 1;
  const path = join(folder, `page-${process.pid}-${kept}.md`);
  writeFileSync(path, text.slice(0, MAX_KEPT_CHARS));
  return path;
}
