/** What the words of a command name as paths and hosts. Text alone: links are not followed, no name is looked up. */
import type { Word } from './shell/shell-script.ts';

/** An absolute path without `.`, `..` and doubled slashes. */
export function absolutePath(path: string, folder: string | undefined): string | undefined {
  if (!path.startsWith('/') && folder === undefined) return undefined;
  const parts: string[] = [];
  for (const part of (path.startsWith('/') ? path : `${folder}/${path}`).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

export function isWithin(path: string, folder: string): boolean {
  return folder === '/' || (path.startsWith(folder) && (path.length === folder.length || path[folder.length] === '/'));
}

/** Within no path of a rule, and above all of them. */
const ANYWHERE: readonly string[] = ['/'];
const MAX_SIGNS = 16;

/** `file://host/path`: programs take the path, and what is quoted in it is another name. */
function pathsOfAddress(text: string): readonly string[] {
  const path = text.replace(/^file:\/*/i, '/');
  const behindHost = /^file:\/\/[^/]+(\/.*)$/i.exec(text)?.[1];
  return [path, ...(behindHost === undefined ? [] : [behindHost]), ...(text.includes('%') ? ANYWHERE : [])];
}

/** Where the files are that the word names, from each of the folders; undefined for a relative path from an unknown folder. */
export function placesOf(word: Word, folders: readonly string[] | undefined): readonly (string | undefined)[] {
  const from = folders ?? NOWHERE;
  const known = places.get(word);
  if (known?.from === from) return known.all;
  const all = pathsIn(word).flatMap((path) => placesFrom(path, from));
  places.set(word, { from, all });
  return all;
}

/** Of a word of a line, which every rule asks for. */
const places = new WeakMap<Word, { readonly from: readonly string[]; readonly all: readonly (string | undefined)[] }>();
const NOWHERE: readonly string[] = [];

function placesFrom(path: string, folders: readonly string[]): readonly (string | undefined)[] {
  if (path.startsWith('/')) return [absolutePath(path, undefined)];
  return folders.length === 0 ? [undefined] : folders.map((folder) => absolutePath(path, folder));
}

/** Every part of the word that a program could take for a path; of a pattern the folder in which it can expand. */
function pathsIn({ text, known }: Word): readonly string[] {
  const fixed = known === 'pattern' ? text.slice(0, text.search(/[*?[]/)) : text;
  const whole = known === 'pattern' ? fixed.slice(0, fixed.lastIndexOf('/') + 1) || '.' : fixed;
  if (known === 'pattern' && /\.\./.test(text)) return ['/'];
  if (/^file:/i.test(whole)) return pathsOfAddress(whole);
  // With a step up it may be the path of a file whose folder has a name like that.
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(whole)) return whole.includes('/..') ? ANYWHERE : [];
  // `-fname` may hold a name.
  if (/^--?[A-Za-z0-9][A-Za-z0-9_-]*$/.test(whole)) return /^-[^-]../.test(whole) ? [whole.slice(2)] : [];
  const found = whole.startsWith('-') ? [] : [whole];
  const signs = [...whole.matchAll(/[=:@]/g)];
  if (signs.length > MAX_SIGNS) return ANYWHERE;
  for (const { index } of signs) if (index < whole.length - 1) found.push(whole.slice(index + 1));
  const from = whole.startsWith('-') ? whole.search(/[/.~]/) : -1;
  if (from >= 0) found.push(whole.slice(from));
  return found;
}

/** The hosts that the text names as one: in an address, or before the colon of `user@host:path`. */
export function hostsIn(text: string): readonly string[] {
  const addresses = [...text.matchAll(/[a-z][a-z\d+.-]*:\/\/(?:[^/@\s'"]*@)?(\[[^\]]*\]|[^/:?#\s'"]+)/gi)].map(([, host]) => host!);
  const scp = /^(?:[\w.-]+@)?((?:[\w-]+\.)+[\w-]+):/.exec(text)?.[1];
  return [...addresses, ...(scp === undefined ? [] : [scp])].map((host) => host.toLowerCase().replace(/\.$/, ''));
}

export function isHostWithin(host: string, name: string): boolean {
  return host === name || host.endsWith(`.${name}`);
}

/** Whether the name stands anywhere in the text, as a whole name or with others before it. */
export function mentionsHost(text: string, name: string): boolean {
  const lower = text.toLowerCase();
  for (let at = lower.indexOf(name); at >= 0; at = lower.indexOf(name, at + 1)) {
    const before = lower[at - 1] ?? '';
    const after = lower[at + name.length] ?? '';
    if (!/[a-z0-9-]/.test(before) && !/[a-z0-9-]/.test(after)) return true;
  }
  return false;
}
