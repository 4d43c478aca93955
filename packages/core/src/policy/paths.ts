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
  return path === folder || folder === '/' || path.startsWith(`${folder}/`);
}

/** Every part of the word that a program could take for a path; of a pattern the folder in which it can expand. */
export function pathsIn({ text, known }: Word): readonly string[] {
  const fixed = known === 'pattern' ? text.slice(0, text.search(/[*?[]/)) : text;
  const whole = known === 'pattern' ? fixed.slice(0, fixed.lastIndexOf('/') + 1) || '.' : fixed;
  if (known === 'pattern' && /\.\./.test(text)) return ['/'];
  if (/^file:/i.test(whole)) return [whole.replace(/^file:\/*/i, '/')];
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(whole)) return [];
  // `-fname` may hold a name.
  if (/^--?[A-Za-z0-9][A-Za-z0-9_-]*$/.test(whole)) return /^-[^-]../.test(whole) ? [whole.slice(2)] : [];
  const found = whole.startsWith('-') ? [] : [whole];
  const at = whole.search(/[=:@]/);
  if (at >= 0 && at < whole.length - 1) found.push(whole.slice(at + 1));
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
