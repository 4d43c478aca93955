/** Every program that a command line may run, found behind wrappers, shells and builtins; and what stands against judging it. Pure. */
import { isHarmlessAssignment } from './harmless-names.ts';
import { parseShell } from './parse-shell.ts';
import { isShell, programDoubt } from './program-doubts.ts';
import { literal, UNKNOWN_WORD, type ShellCommand, type ShellScript, type Word } from './shell-script.ts';
import { behindWrapper, WRAPPERS } from './wrappers.ts';

export interface Program {
  /** As it is written: `rm`, `/bin/rm`. */
  readonly name: string;
  readonly args: readonly Word[];
}

export interface CommandLine {
  readonly programs: readonly Program[];
  /** Builtins that only print, compare or end. */
  readonly harmless: readonly Program[];
  /** Files that redirections write. */
  readonly writes: readonly Word[];
  readonly reads: readonly Word[];
  /** The folders that it changes to; undefined when one is known only when it runs. */
  readonly folders: readonly string[] | undefined;
  /** In words; with one of them the line cannot be allowed. */
  readonly doubts: readonly string[];
}

/** Where programs have the names that they are known by. */
export const SYSTEM = /^\/(?:usr\/)?s?bin\/[^/]+$/;
const MAX_DEPTH = 10;
const MAX_PROGRAMS = 1000;
const MAX_WRAPPERS = 20;

export function readCommandLine(text: string): CommandLine {
  const reader = new CommandReader();
  reader.script(text);
  return reader.result();
}

/** They print, compare or end; they run and write nothing. */
const HARMLESS = new Set([':', 'true', 'false', 'echo', 'pwd', 'exit', 'return', 'break', 'continue', 'shift', 'times', 'type', 'cd']);
const SETS_VARIABLE = /^-v|%[-+ #'0-9.*hjlLqtz]*n/;
const DECLARES = new Set(['export', 'local', 'declare', 'typeset', 'readonly']);
/** They change what later words mean. */
const CHANGES = new Set([
  'alias',
  'unalias',
  'trap',
  'shopt',
  'enable',
  'hash',
  'bind',
  'complete',
  'compgen',
  'compopt',
  'read',
  'mapfile',
  'readarray',
  'let',
  'fc',
  'history',
  'getopts',
  'umask',
  'ulimit',
  'unset',
  'pushd',
  'popd',
  'dirs',
  'logout',
  'suspend',
  'caller',
  'disown',
  'fg',
  'bg',
]);

/** Quotes, conditions and assignments that other shells read as something else: `[[` is the name of a program there. */
const OF_BASH = /\$'|\[\[\s|\w\+=/;

class CommandReader {
  readonly #programs: Program[] = [];
  readonly #harmless: Program[] = [];
  readonly #writes: Word[] = [];
  readonly #reads: Word[] = [];
  readonly #folders: string[] = [];
  readonly #doubts = new Set<string>();
  #knowsFolder = true;
  #depth = 0;
  /** How many programs stand before the one that is read, each of which runs the next. */
  #wrappers = 0;

  result(): CommandLine {
    const folders = this.#knowsFolder ? this.#folders : undefined;
    const doubts = [...this.#doubts];
    return { programs: this.#programs, harmless: this.#harmless, writes: this.#writes, reads: this.#reads, folders, doubts };
  }

  script(text: string): void {
    const parsed = parseShell(text);
    if (!parsed.ok) return this.#doubt(`it cannot be read: ${parsed.reason}`);
    this.#commands(parsed.script);
  }

  #doubt(reason: string): void {
    if (this.#doubts.size < 20) this.#doubts.add(reason);
  }

  #nested(text: string): void {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) this.#doubt('it is nested too deeply');
    else this.script(text);
    this.#depth -= 1;
  }

  #commands({ commands, doubts, repeats }: ShellScript): void {
    for (const doubt of doubts) this.#doubt(doubt);
    const before = this.#folders.length;
    for (const command of commands) this.#command(command);
    // A relative folder within a loop is another one each time.
    if (repeats && this.#folders.slice(before).some((folder) => !folder.startsWith('/'))) this.#knowsFolder = false;
  }

  #command({ assignments, words, redirects }: ShellCommand): void {
    for (const { name, value } of assignments) this.#assign(name, value.known === 'literal' ? value.text : undefined);
    for (const { operator, target } of redirects) {
      if (/^<<|^<&/.test(operator) || (operator === '>&' && /^(?:\d+-?|-)$/.test(target.text))) continue;
      if (target.known !== 'literal') this.#doubt('a file that is known only when it runs');
      if (operator === '<') this.#reads.push(target);
      else if (target.text !== '/dev/null') this.#writes.push(target);
    }
    if (words.length > 0) this.#run(words);
  }

  #assign(name: string, value: string | undefined): void {
    if (!isHarmlessAssignment(name, value)) this.#doubt(`\`${name}=\` may change what runs`);
  }

  #run(words: readonly Word[]): void {
    this.#wrappers += 1;
    if (this.#wrappers > MAX_WRAPPERS) this.#doubt('it is nested too deeply');
    else this.#runs(words);
    this.#wrappers -= 1;
  }

  #runs(words: readonly Word[]): void {
    const [first, ...args] = words;
    if (first === undefined || first.known !== 'literal' || first.text === '')
      return this.#doubt('a program that is known only when it runs');
    const name = first.text;
    const base = name.slice(name.lastIndexOf('/') + 1);
    if (this.#builtin(name, args)) return void this.#harmless.push({ name, args });
    const runsOthers = isShell(base) || Object.hasOwn(WRAPPERS, base);
    // In another folder it is a program that only has the name.
    if (runsOthers && name !== base && !SYSTEM.test(name)) this.#program(name, args);
    if (isShell(base)) return this.#shell(name, base, args);
    if (runsOthers) return this.#wrapped(name, base, args);
    if (base === 'find') return this.#find(name, args);
    this.#program(name, args);
  }

  #program(name: string, args: readonly Word[]): void {
    if (this.#programs.length >= MAX_PROGRAMS) return this.#doubt('it runs too many programs');
    const base = name.slice(name.lastIndexOf('/') + 1);
    const doubt = programDoubt(base, args);
    if (doubt !== undefined) this.#doubt(doubt);
    this.#programs.push({ name, args });
  }

  /** Whether it was one; those that only look like a program are judged as such. */
  #builtin(name: string, args: readonly Word[]): boolean {
    if (name === 'cd') this.#changeFolder(args);
    if (HARMLESS.has(name)) return true;
    if (name === 'printf') {
      const format = args[0]?.text === '--' ? args[1] : args[0];
      if (format?.known !== 'literal' || SETS_VARIABLE.test(format.text)) this.#doubt('`printf` may set a variable');
      return true;
    }
    if (name === 'jobs') return this.#jobs(args);
    if (name === 'wait') {
      // The name behind `-p` may hold a subscript, which is computed.
      const isPlain = ({ text, known, raw }: Word): boolean =>
        known === 'literal' ? /^(?:-[nf]+|%?\w*)$/.test(text) : /^"?\$!"?$/.test(raw);
      if (!args.every(isPlain)) this.#doubt('`wait` may set a variable');
      return true;
    }
    if (name === 'test' || name === '[') {
      if (args.some(({ text, known }) => known !== 'literal' || text === '-v' || text === '-R')) this.#doubt('a condition that computes');
      return true;
    }
    if (name === 'set') {
      if (args.some(({ text, known }) => known !== 'literal' || !/^(?:[-+][euxo]+|pipefail)$/.test(text))) this.#doubt('`set`');
      return true;
    }
    if (DECLARES.has(name)) return this.#declare(args);
    if (name === 'eval') return this.#eval(args);
    if (name === 'exec' && args.length === 0) this.#doubt('`exec` changes the shell itself');
    if (!CHANGES.has(name)) return name === 'exec' && args.length === 0;
    this.#doubt(`\`${name}\` changes what runs later`);
    // What it will run is listed all the same, so that a rule can deny it.
    if (name === 'trap' && args[0]?.known === 'literal' && args[0].text !== '-') this.#nested(args[0].text);
    if (name === 'alias') for (const { text } of args) if (text.includes('=')) this.#nested(text.slice(text.indexOf('=') + 1));
    return true;
  }

  #jobs(args: readonly Word[]): true {
    if (args.every(({ text, known }) => known === 'literal' && /^(?:-[lnprs]+|%?\w+)$/.test(text))) return true;
    this.#doubt('`jobs` may run a program');
    const [option, ...rest] = args;
    if (option!.text.startsWith('-') && rest.length > 0) this.#run(rest);
    return true;
  }

  #declare(args: readonly Word[]): true {
    for (const { text, known, raw } of args) {
      const name = /^(\w+)\+?=/.exec(raw)?.[1];
      if (name !== undefined) this.#assign(name, known === 'literal' ? text.slice(text.indexOf('=') + 1) : undefined);
      else if (known !== 'literal' || !/^(?:-x|-r|-g|-p|[a-z_]\w*)$/.test(text)) this.#doubt('a declaration that is not understood');
    }
    return true;
  }

  #eval(args: readonly Word[]): true {
    if (args.some(({ known }) => known !== 'literal')) this.#doubt('`eval` of a text that is known only when it runs');
    else this.#nested(args.map(({ text }) => text).join(' '));
    return true;
  }

  #changeFolder(args: readonly Word[]): void {
    const [target] = args;
    const isPlain = args.length === 1 && target!.known === 'literal' && !target!.text.startsWith('-') && target!.text !== '';
    if (isPlain) this.#folders.push(target!.text);
    else this.#knowsFolder = false;
  }

  #shell(name: string, base: string, args: readonly Word[]): void {
    let at = 0;
    while (args[at]?.known === 'literal' && /^-[eux]+$/.test(args[at]!.text)) at += 1;
    const option = args[at];
    if (option?.known === 'literal' && /^-[eux]*c[eux]*$/.test(option.text)) {
      const text = args[at + 1];
      if (text?.known !== 'literal') return this.#doubt(`\`${name} -c\` of a text that is known only when it runs`);
      if (!/^(?:ba|da|a)?sh$/.test(base)) this.#doubt(`\`${base}\` reads commands in a way of its own`);
      if (base !== 'bash' && OF_BASH.test(text.text)) this.#doubt(`\`${base}\` reads a part of it in another way`);
      return this.#nested(text.text);
    }
    if (option === undefined || option.text.startsWith('-')) return this.#doubt('a shell that reads its commands from its input');
    this.#program(name, args.slice(at));
  }

  #wrapped(name: string, base: string, args: readonly Word[]): void {
    const wrapper = WRAPPERS[base]!;
    if (base === 'command' && /^-[vV]$/.test(args[0]?.text ?? '')) return;
    if (base === 'env' && this.#envString(args)) return;
    if (wrapper.isJudged) this.#program(name, args);
    const found = behindWrapper(wrapper, args);
    if (found === undefined) return this.#doubt(`an option of \`${base}\` that is not understood`);
    for (const { text } of found.assignments) this.#assign(text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1));
    if (found.words.length === 0) return base === 'env' ? this.#program(name, args) : this.#doubt(`\`${base}\` without a program`);
    this.#run(wrapper.appends ? [...found.words, UNKNOWN_WORD] : found.words);
  }

  /** `env -S 'name=value program'`: split by rules of its own, which are the shell's for plain words. */
  #envString(args: readonly Word[]): boolean {
    const index = args.findIndex(({ text }) => /^(?:-[0iv]*S|--split-string)/.test(text));
    if (index < 0) return false;
    this.#doubt('`env -S`');
    const { text } = args[index]!;
    const attached = text.replace(/^(?:-[0iv]*S|--split-string=?)/, '');
    const words = attached === '' ? args[index + 1]?.text : attached;
    if (words !== undefined) this.#wrapped('env', 'env', words.trim().split(/\s+/).map(literal));
    return true;
  }

  #find(name: string, args: readonly Word[]): void {
    const own: Word[] = [];
    for (let at = 0; at < args.length; at += 1) {
      const { text, known } = args[at]!;
      if (known !== 'literal' || !/^-(?:exec|execdir|ok|okdir)$/.test(text)) {
        own.push(args[at]!);
        continue;
      }
      const end = args.findIndex((arg, index) => index > at && (arg.text === ';' || (arg.text === '+' && args[index - 1]!.text === '{}')));
      if (end < 0) return this.#doubt('`find` runs something that has no end');
      this.#run(args.slice(at + 1, end).map((arg) => (arg.text.includes('{}') ? UNKNOWN_WORD : arg)));
      at = end;
    }
    this.#program(name, own);
  }
}
