import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { globPattern } from './glob-pattern.ts';

interface Rule {
  readonly pattern: RegExp;
  readonly isNegated: boolean;
  readonly folderOnly: boolean;
}

/** The rules of one folder, for what is below it. */
export interface IgnoreRules {
  readonly folder: string;
  readonly rules: readonly Rule[];
}

const FILES = ['.gitignore', '.ignore'];
/** A longer one is no list that a person wrote. */
const MAX_BYTES = 1024 * 1024;

/** Those of the folder itself. Total. */
export function rulesIn(folder: string): IgnoreRules {
  const lines = [...FILES, '.git/info/exclude'].flatMap((name) => linesOf(join(folder, name)));
  return { folder, rules: lines.flatMap(ruleOf) };
}

/** Those of the folders above it, as far as its repository goes; outermost first. */
export function rulesAbove(folder: string): IgnoreRules[] {
  const found: IgnoreRules[] = [];
  for (let each = folder; !existsSync(join(each, '.git')) && each !== dirname(each);) {
    each = dirname(each);
    found.unshift(rulesIn(each));
  }
  return found;
}

/** As git decides: the innermost folder's last rule that fits. */
export function isIgnored(path: string, isFolder: boolean, all: readonly IgnoreRules[]): boolean {
  for (const { folder, rules } of all.toReversed()) {
    const below = relative(folder, path);
    const rule = rules.findLast(({ pattern, folderOnly }) => (isFolder || !folderOnly) && pattern.test(below));
    if (rule) return !rule.isNegated;
  }
  return false;
}

function linesOf(path: string): string[] {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= MAX_BYTES ? readFileSync(path, 'utf8').split('\n') : [];
  } catch {
    return [];
  }
}

function ruleOf(line: string): Rule[] {
  const text = line.replace(/\r$/, '').replace(/(?<!\\) +$/, '');
  if (text === '' || text.startsWith('#')) return [];
  const isNegated = text.startsWith('!');
  const glob = isNegated ? text.slice(1) : text;
  const folderOnly = glob.endsWith('/');
  return [{ pattern: globPattern(folderOnly ? glob.slice(0, -1) : glob), isNegated, folderOnly }];
}
