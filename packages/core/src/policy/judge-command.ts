/** What rules say of a command line. The whole line is allowed only when each of its parts is. */
import type { ConfirmationRule } from '@tendon/protocol';
import { isAllowed, isFileWithin, reaches, touches, type Folders, type Match } from './match-program.ts';
import { absolutePath } from './paths.ts';
import { readCommandLine, type CommandLine } from './shell/read-command-line.ts';

/** `open`: no rule decides, so the mode does. */
export interface Judgement {
  readonly decision: 'allow' | 'ask' | 'deny' | 'open';
  /** One sentence, without a full stop; for the person and the model. */
  readonly reason: string;
  /** It asks because it cannot be judged, not because a rule says so. */
  readonly isDoubt: boolean;
}

/** `folder`: where the shell stands, if that is known. */
export function judgeCommand(command: string, rules: readonly ConfirmationRule[], folder: string | undefined): Judgement {
  const line = readCommandLine(command);
  const folders = foldersOf(line, folder);
  if (costOf(line, rules, folders) > MAX_COST) return { decision: 'ask', reason: 'it is too long to be judged', isDoubt: true };
  const matches = rules.map((rule) => (rule.decision === 'allow' ? 'no' : matchOf(rule, line, folders)));
  const denied = rules.find(({ decision }, index) => decision === 'deny' && matches[index] === 'yes');
  if (denied) return { decision: 'deny', reason: `a rule denies ${ruleText(denied)}`, isDoubt: false };
  const asked = rules.find((_, index) => matches[index] !== 'no');
  if (asked) return { decision: 'ask', reason: `a rule is about ${ruleText(asked)}`, isDoubt: false };
  const [doubt] = line.doubts;
  if (doubt !== undefined) return { decision: 'ask', reason: doubt, isDoubt: true };
  const allowing = rules.filter(({ decision, tool }) => decision === 'allow' && tool === undefined);
  // Builtins are allowed with the programs among which they stand, not for themselves.
  const parts = line.programs.length + line.writes.length > 0 ? line.programs : line.harmless;
  if (parts.length + line.writes.length === 0) return { decision: 'open', reason: 'no rule is about it', isDoubt: false };
  const left = parts.find((program) => !allowing.some((rule) => isAllowed(rule, program, folders) && readsWithin(rule, line, folders)));
  if (left) return { decision: 'open', reason: `no rule allows \`${left.name}\``, isDoubt: false };
  const file = line.writes.find(({ text }) => !allowing.some((rule) => writesWithin(rule, text, folders)));
  if (file) return { decision: 'open', reason: `no rule allows it to write ${file.text}`, isDoubt: false };
  return { decision: 'allow', reason: 'rules allow all of it', isDoubt: false };
}

/** How often a word is compared: nothing else waits for the server meanwhile. */
function costOf({ programs, writes, reads }: CommandLine, rules: readonly ConfirmationRule[], folders: Folders = []): number {
  const words = programs.reduce((sum, { args }) => sum + args.length + 1, writes.length + reads.length);
  return words * rules.length * Math.max(1, folders.length);
}

const MAX_COST = 500_000;

function foldersOf({ folders: changes }: CommandLine, folder: string | undefined): Folders {
  if (changes === undefined) return undefined;
  let all: ReadonlySet<string | undefined> = new Set([folder]);
  for (const change of changes) {
    all = new Set([...all, ...[...all].map((from) => absolutePath(change, from))]);
    if (all.size > MAX_FOLDERS) return undefined;
  }
  return all.has(undefined) ? undefined : ([...all] as string[]);
}

const MAX_FOLDERS = 16;

function matchOf(rule: ConfirmationRule, line: CommandLine, folders: Folders): Match {
  if (rule.tool !== undefined) return 'no';
  // Builtins open no file.
  const programs = rule.path === undefined ? [...line.programs, ...line.harmless] : line.programs;
  const matches = programs.map((program) => touches(rule, program, folders));
  if (rule.path !== undefined && rule.command === undefined && rule.host === undefined) {
    const changes = (line.folders ?? []).map((text) => ({ text, known: 'literal' as const, isQuoted: true, raw: text }));
    matches.push(reaches([...line.writes, ...line.reads], rule.path, folders));
    matches.push(reaches(changes, rule.path, folders) === 'yes' ? 'yes' : 'no');
  }
  return matches.includes('yes') ? 'yes' : matches.includes('maybe') ? 'maybe' : 'no';
}

function readsWithin({ path }: ConfirmationRule, { reads }: CommandLine, folders: Folders): boolean {
  return path === undefined || reads.every(({ text }) => isFileWithin(text, path, folders));
}

/** A rule of a path alone lets it be written. */
function writesWithin({ command, host, path }: ConfirmationRule, file: string, folders: Folders): boolean {
  if (command !== undefined || host !== undefined || path === undefined) return false;
  return isFileWithin(file, path, folders);
}

export function ruleText({ command, path, host, tool }: ConfirmationRule): string {
  const parts = [tool, command && `\`${command}\``, path && `the path ${path}`, host && `the host ${host}`];
  return parts.filter(Boolean).join(' with ');
}
