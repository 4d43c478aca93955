/** The rules by which a person allows an action and others like it. None where no rule could: what cannot be judged asks each time. */
import type { ActionDraft, ConfirmationRule } from '@tendon/protocol';
import { editedPaths, ruleNameOf } from './judge-action.ts';
import { baseName } from './match-program.ts';
import { gitWords } from './shell/git-doubt.ts';
import { readCommandLine, type Program } from './shell/read-command-line.ts';

/** Programs whose first word is what they do. */
const HAS_COMMANDS = new Set(
  'git npm pnpm yarn cargo go make docker podman kubectl helm pip uv poetry bundle rails rake dotnet mvn gradle apt apt-get brew'.split(
    ' ',
  ),
);

export function suggestRules(action: ActionDraft): readonly ConfirmationRule[] {
  switch (action.action) {
    case 'run':
      return action.args.is_input ? [] : suggestCommands(action.args.command);
    case 'write':
      return suggestPaths([action.args.path]);
    case 'edit':
      return suggestPaths(editedPaths(action));
    case 'read':
    case 'browse':
    case 'delegate':
      // A rule asks, which no other lifts.
      return [];
    default:
      return [{ decision: 'allow', tool: ruleNameOf(action) }];
  }
}

function suggestPaths(paths: readonly string[]): readonly ConfirmationRule[] {
  if (paths.length > MAX_PATHS || paths.some((path) => !path.startsWith('/'))) return [];
  return paths.map((path) => ({ decision: 'allow', path }));
}

/** More are no rule that a person reads. */
const MAX_PATHS = 20;

function suggestCommands(command: string): readonly ConfirmationRule[] {
  const { programs, harmless, writes, doubts } = readCommandLine(command);
  if (doubts.length > 0 || writes.some(({ text }) => !text.startsWith('/'))) return [];
  const named = programs.length > 0 ? programs : harmless;
  const commands = new Set(named.map(commandOf));
  const paths = new Set(writes.map(({ text }) => text));
  return [
    ...[...commands].map((each) => ({ decision: 'allow', command: each }) as const),
    ...[...paths].map((path) => ({ decision: 'allow', path }) as const),
  ];
}

function commandOf({ name, args }: Program): string {
  const base = baseName(name);
  const texts = args.map(({ text }) => text);
  const { subcommand, rest } = base === 'git' ? gitWords(texts) : { subcommand: texts[0], rest: texts.slice(1) };
  const isWord = (text: string | undefined): text is string => text !== undefined && /^[a-z][\w:-]*$/.test(text);
  if (!HAS_COMMANDS.has(base) || !isWord(subcommand)) return name;
  const isRun = /^(?:run|exec)$/.test(subcommand) && isWord(rest[0]);
  return isRun ? `${name} ${subcommand} ${rest[0]}` : `${name} ${subcommand}`;
}
