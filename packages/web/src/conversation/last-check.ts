import { type Event, isAction, isObservation, type Observation } from '@tendon/protocol';

/** The last command of a turn that proves something, and what it proves. */
export interface LastCheck {
  readonly command: string;
  /** The event of its result. */
  readonly id: number;
  /** Missing: it still runs, or how it ended is not known. */
  readonly exitCode: number | undefined;
  /** The exit code may be another command's of the same line, as in `npm test | tail`: 0 does not say that the check passed. */
  readonly isUnproven: boolean;
  /** Files were edited after it. */
  readonly isOutdated: boolean;
}

const RUNNERS =
  'npm|pnpm|yarn|bun|npx|bunx|uv run|poetry run|pipenv run|bundle exec|python3? -m|deno|node|dotnet|swift|rake|just|make|mvnw?|gradlew?';
const PROGRAMS =
  'vitest|jest|mocha|ava|tap|pytest|unittest|tox|nox|rspec|phpunit|ctest|tsc|vue-tsc|eslint|oxlint|biome|ruff|mypy|pyright|flake8|pylint|shellcheck|stylelint|rubocop|golangci-lint|clippy';
const CHECKS = 'test|tests|check|lint|typecheck|type-check|build|verify|compile|vet|clippy|ci';
/** At the beginning of one of the commands of a line, with what may stand before it. Each part can be read in one way only. */
const CHECK = new RegExp(
  String.raw`(?:^|&&|\|\||[;|(\n])\s*(?:\w+=\S*\s+|time\s+|timeout\s+\S+\s+|sudo\s+)*(?:[^\s;|&]*\/)?` +
    String.raw`(?:(?:${PROGRAMS})(?![\w.-])|(?:${RUNNERS})\s+(?:run\s+|-\S+\s+(?:\w\S*\s+)??)*(?:[^\s;|&]*\/)?(?:${PROGRAMS}|${CHECKS})(?![\w.-])|node\s+--test(?!\S)|(?:cargo|go)\s+(?:${CHECKS})(?![\w-])|(?:ba)?sh\s+\S*(?:test|check|lint)\S*)`,
);
const MAX_CHARS = 1000;
const REDIRECTIONS = /\d?>&\d|&>>?/g;
/** What may come behind a check whose exit code is that of the line: words, and what runs only when it has passed. */
const ENDS = /^(?:[^|;&\n`(){}]|&&)*[;)]?\s*$/;

/**
 * Whether a command tests, lints, checks or builds; a guess from its words.
 * @internal
 */
export function isCheck(command: string): boolean {
  return CHECK.test(command.slice(0, MAX_CHARS));
}

/**
 * Whether an exit code of 0 is that of the last check in it; not where anything is quoted, looped or piped that could hide another.
 * @internal
 */
export function provesPass(command: string): boolean {
  if (command.length > MAX_CHARS || command.includes('<<')) return false;
  const checks = [...command.matchAll(new RegExp(CHECK, 'g'))];
  const last = checks.at(-1);
  const before = command.slice(0, last?.index);
  if (!last || /\|\||[$<>]\(|`/.test(`${before}${last[0]}`) || isInQuotes(before)) return false;
  const rest = command.slice(last.index + last[0].length).replaceAll(REDIRECTIONS, ' ');
  const isWhole = /(?:^|[;&\n]\s*)set\s+-\w*e?o\s+pipefail/.test(before);
  return ENDS.test(isWhole ? rest.replaceAll(/(?<!\|)\|(?!\|)/g, ' ') : rest);
}

function isInQuotes(before: string): boolean {
  return ["'", '"'].some((quote) => before.split(quote).length % 2 === 0);
}

/** Of the events of one turn, as the log has them. */
export function lastCheck(events: readonly Event[]): LastCheck | undefined {
  const started = new Map<number, string>();
  let found: LastCheck | undefined;
  for (const event of events) {
    if (isAction(event) && event.action === 'run' && event.source === 'agent' && isCheck(event.args.command)) {
      started.set(event.id, event.args.command);
    } else if (isObservation(event)) {
      const command = event.observation === 'run' ? started.get(event.cause ?? -1) : undefined;
      if (command !== undefined) found = resultOf(command, event as Observation<'run'>);
      else if (found && (event.observation === 'edit' || event.observation === 'write')) found = { ...found, isOutdated: true };
    }
  }
  return found;
}

/** The same check, with the result of the last time that a person ran it again in these events. */
export function runAgain(events: readonly Event[], check: LastCheck): LastCheck {
  const started = new Set<number>();
  let found = check;
  for (const event of events) {
    if (isAction(event) && event.action === 'run' && event.source === 'user' && event.args.command === check.command) started.add(event.id);
    else if (isObservation(event) && event.observation === 'run' && started.has(event.cause ?? -1)) found = resultOf(check.command, event);
    else if (isObservation(event) && (event.observation === 'edit' || event.observation === 'write'))
      found = { ...found, isOutdated: true };
  }
  return found;
}

function resultOf(command: string, event: Observation<'run'>): LastCheck {
  const exitCode = exitCodeOf(event);
  return { command, id: event.id, exitCode, isUnproven: exitCode === 0 && !provesPass(command), isOutdated: false };
}

function exitCodeOf({ extras }: Observation<'run'>): number | undefined {
  const { exit_code: code } = extras.metadata;
  return code >= 0 ? code : undefined;
}
