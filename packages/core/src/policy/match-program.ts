/** Whether a rule is about a program of a command line. Of `allow` all must be certain; for `ask` and `deny` a likeness counts. */
import type { ConfirmationRule } from '@tendon/protocol';
import { gitWords } from './shell/git-doubt.ts';
import { SYSTEM, type Program } from './shell/read-command-line.ts';
import { absolutePath, hostsIn, isHostWithin, isWithin, mentionsHost, placesOf } from './paths.ts';
import { literal, type Word } from './shell/shell-script.ts';

/** `maybe`: enough to ask, not to deny. */
export type Match = 'yes' | 'maybe' | 'no';

/** In which folders the command may run, as far as is known. */
export type Folders = readonly string[] | undefined;

/** The program itself has the name of the rule, its next words are those of the rule, and all that it names is within path and host. */
export function isAllowed({ command, path, host }: ConfirmationRule, program: Program, folders: Folders): boolean {
  if (command === undefined) return false;
  const [name, ...prefix] = command.split(/\s+/);
  const isNamed = program.name === name || (!name!.includes('/') && SYSTEM.test(program.name) && baseName(program.name) === name);
  const words = argumentsOf(program);
  if (!isNamed || prefix.some((word, index) => words[index]?.known !== 'literal' || words[index].text !== word)) return false;
  if (path !== undefined && !program.args.every((word) => staysWithin(word, path, folders))) return false;
  return host === undefined || goesOnlyTo(program.args, host);
}

function staysWithin(word: Word, path: string, folders: Folders): boolean {
  return placesOf(word, folders).every((place) => place !== undefined && isWithin(place, path));
}

/** The same of a file: its whole name is a path. */
export function isFileWithin(file: string, path: string, folders: Folders): boolean {
  const places = file.startsWith('/') ? [absolutePath(file, undefined)] : folders?.map((folder) => absolutePath(file, folder));
  return places !== undefined && places.length > 0 && places.every((place) => isWithin(place!, path));
}

/** Each word is an option or an address there. */
function goesOnlyTo(args: readonly Word[], host: string): boolean {
  const operands = args.filter(({ text }) => !/^--?[A-Za-z][\w-]*$/.test(text));
  return operands.length > 0 && operands.every(({ text, known }) => known === 'literal' && onlyHost(text, host));
}

function onlyHost(text: string, host: string): boolean {
  const hosts = hostsIn(text);
  return /^https?:\/\/[^@\s\\]*$/i.test(text) && hosts.length === 1 && isHostWithin(hosts[0]!, host);
}

/** `git -C folder push` is `git push`. */
function argumentsOf({ name, args }: Program): readonly Word[] {
  if (baseName(name) !== 'git') return args;
  const { options, folders } = gitWords(args.map(({ text }) => text));
  return args.slice(options.length + folders.length);
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** For rules that ask or deny. */
export function touches({ command, path, host }: ConfirmationRule, program: Program, folders: Folders): Match {
  return least([
    ...(command === undefined ? [] : [resembles(command, program)]),
    ...(path === undefined ? [] : [reaches(program.args, path, folders, program)]),
    ...(host === undefined ? [] : [program.args.some(({ text }) => mentionsHost(text, host)) ? ('yes' as const) : ('no' as const)]),
  ]);
}

function least(matches: readonly Match[]): Match {
  return matches.includes('no') || matches.length === 0 ? 'no' : matches.includes('maybe') ? 'maybe' : 'yes';
}

/** Options may stand anywhere and be joined; words that do not follow at once are only like it. */
function resembles(command: string, program: Program): Match {
  const [name, ...rest] = command.split(/\s+/);
  if (baseName(program.name) !== baseName(name!)) return 'no';
  const texts = argumentsOf(program).map(({ text }) => text);
  if (!rest.filter((word) => word.startsWith('-')).every((option) => hasOption(option, texts))) return 'no';
  const wanted = rest.filter((word) => !word.startsWith('-'));
  const operands = texts.filter((text) => !text.startsWith('-'));
  if (wanted.every((word, index) => operands[index] === word)) return 'yes';
  let at = -1;
  return wanted.every((word) => (at = operands.indexOf(word, at + 1)) >= 0) ? 'maybe' : 'no';
}

const LONG: Readonly<Record<string, string>> = { r: '--recursive', R: '--recursive', f: '--force' };

function hasOption(option: string, texts: readonly string[]): boolean {
  if (option.startsWith('--')) {
    const letter = Object.keys(LONG).find((key) => LONG[key] === option);
    const isShort = letter !== undefined && texts.some((text) => isCluster(text) && text.toLowerCase().includes(letter.toLowerCase()));
    return isShort || texts.some((text) => isLong(text, option));
  }
  if (texts.includes(option)) return true;
  return [...option.slice(1)].every((letter) =>
    texts.some(
      (text) =>
        (isCluster(text) && (text.includes(letter) || (/[rR]/.test(letter) && /[rR]/.test(text)))) ||
        (LONG[letter] !== undefined && isLong(text, LONG[letter])),
    ),
  );
}

function isCluster(text: string): boolean {
  return /^-[^-]/.test(text);
}

/** Programs take the beginning of a long option for the whole. */
function isLong(text: string, option: string): boolean {
  const name = text.split('=', 1)[0]!;
  return name.length > 2 && name.startsWith('--') && (option.startsWith(name) || name === option);
}

/** A folder above the path, and a path from an unknown folder, may hold it. */
export function reaches(words: readonly Word[], path: string, folders: Folders, program?: Program): Match {
  const all = program && isRecursive(program) ? [...words, HERE] : words;
  let match: Match = 'no';
  for (const word of all) {
    for (const place of placesOf(word, folders)) {
      if (place !== undefined && isWithin(place, path)) return 'yes';
      if (place === undefined || isWithin(path, place)) match = 'maybe';
    }
  }
  return match;
}

const HERE = literal('.');
const SEARCHES = new Set(['rg', 'ag', 'ack']);

/** Without a word that names it, it goes through the whole folder. */
function isRecursive({ name, args }: Program): boolean {
  const base = baseName(name);
  return SEARCHES.has(base) || (/^[ef]?grep$/.test(base) && args.some(({ text }) => /^-[^-]*[rRd]|^--(?:rec|dir|deref)/.test(text)));
}
