import { systemClock, type Runtime } from '@tendon/server/headless';
import type { ObservationDraft } from '@tendon/protocol';
import type { Step } from './planned-steps.ts';

export interface ReplayResult {
  readonly done: number;
  /** The steps that have an observation to compare with. */
  readonly compared: number;
  readonly left: number;
  readonly differences: readonly (Difference & Pick<Step, 'event' | 'action'>)[];
}

export interface ReplayStepsOptions {
  /** Continue after a difference. */
  readonly all: boolean;
  readonly signal: AbortSignal;
  readonly onStep: (step: Step, index: number) => void;
}

/** Backstop: a command that prints forever and has no time limit of its own. */
const STEP_SECONDS = 1_800;
const GRACE_SECONDS = 60;

/** Carries out the steps one after the other. Rejects with a user-facing error when the sandbox is lost, and when it is cancelled. */
export async function replaySteps(runtime: Runtime, steps: readonly Step[], options: ReplayStepsOptions): Promise<ReplayResult> {
  const counts = { done: 0, compared: 0, left: 0 };
  const differences: ReplayResult['differences'][number][] = [];
  for (const [index, step] of steps.entries()) {
    options.onStep(step, index);
    if (step.left !== undefined) {
      counts.left++;
      continue;
    }
    const replayed = await carryOut(runtime, step, index, options.signal);
    counts.done++;
    if (!step.recorded) continue;
    counts.compared++;
    const difference = differenceOf(step.recorded, replayed, runtime.workspace);
    if (difference) differences.push({ ...difference, event: step.event, action: step.action });
    if (difference && !options.all) break;
  }
  return { ...counts, differences };
}

async function carryOut(runtime: Runtime, { action: draft, event }: Step, id: number, cancelled: AbortSignal) {
  const { cause: _cause, executor: _executor, ...rest } = draft;
  const action = { ...rest, id, timestamp: systemClock.now().toISOString(), source: 'agent' as const, executor: runtime.incarnation };
  const limit = AbortSignal.timeout(((draft.timeout ?? STEP_SECONDS) + GRACE_SECONDS) * 1_000);
  const result = await runtime.execute(action, { signal: AbortSignal.any([cancelled, limit]), isFresh: true });
  cancelled.throwIfAborted();
  if (result.outcome !== 'observed') throw new Error(`Event ${event} could not be done again: ${result.reason}.`);
  return result.observation;
}

interface Difference {
  readonly what: 'kind' | 'exit code' | 'content';
  readonly recorded: string;
  readonly replayed: string;
}

/** The differences, the gravest first. `workspace` is its path in the sandbox. */
function differenceOf(recorded: ObservationDraft, replayed: ObservationDraft, workspace: string): Difference | undefined {
  if (recorded.observation !== replayed.observation)
    return { what: 'kind', recorded: shown(recorded, recorded.observation), replayed: shown(replayed, replayed.observation) };
  const codes = [exitCode(recorded), exitCode(replayed)] as const;
  if (codes[0] !== undefined && codes[0] !== codes[1])
    return { what: 'exit code', recorded: shown(recorded, codes[0]), replayed: shown(replayed, String(codes[1])) };
  if (comparableText(recorded.content, workspace) === comparableText(replayed.content, workspace)) return undefined;
  return { what: 'content', recorded: recorded.content, replayed: replayed.content };
}

/** The value and the words beside it: an exit code alone explains nothing. */
function shown({ content }: ObservationDraft, value: string): string {
  return content === '' ? value : `${value}\n${content}`;
}

function exitCode({ extras }: ObservationDraft): string | undefined {
  const { metadata, exit_code } = extras as { readonly metadata?: { readonly exit_code?: number }; readonly exit_code?: number };
  const code = metadata?.exit_code ?? exit_code;
  return code === undefined ? undefined : String(code);
}

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';

/** Text that differs from run to run without meaning: in this order, the longer forms first. */
const PASSING: readonly (readonly [pattern: RegExp, stands: string])[] = [
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z\b|UTC\b|[+-]\d\d:?\d\d))?/g, '<time>'],
  [new RegExp(`\\b(?:${DAY},? )?${MONTH} +\\d{1,2} +(?:\\d\\d:\\d\\d(?::\\d\\d)?(?: [A-Z]{3,4})?(?: \\d{4})?|\\d{4}\\b)`, 'g'), '<time>'],
  [new RegExp(`\\b(?:${DAY},? )?\\d{1,2} ${MONTH} \\d{4}(?: \\d\\d:\\d\\d(?::\\d\\d)?(?: [A-Z]{3,4}| [+-]\\d{4})?)?`, 'g'), '<time>'],
  [/\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b/g, '<time>'],
  [/\b(?:\d+m)?\d+\.\d+ ?(?:s|secs?|seconds?)\b|\b\d+(?:\.\d+)? ?(?:ms|µs|ns)\b/g, '<duration>'],
  [/^\[(\d+)\](\+?) \d+$/gm, '[$1]$2 <pid>'],
  [/\b(pid|process)([ =:#]+)\d+\b/gi, '$1$2<pid>'],
  [/\/tmp\/(?:tmp[.\w]{6,}|[\w.-]*[._-](?=[A-Za-z0-9]*[A-Z0-9])[A-Za-z0-9]{6,12})(?![\w.-])/g, '/tmp/<name>'],
];

/**
 * The text without what is never the same twice: times, durations, process ids, generated names below /tmp, and the workspace's path.
 * @internal
 */
export function comparableText(text: string, workspace: string): string {
  const placed = text.replaceAll('\r\n', '\n').replaceAll(workspace, '<workspace>').replaceAll('/workspace', '<workspace>');
  return PASSING.reduce((left, [pattern, stands]) => left.replace(pattern, stands), placed).trimEnd();
}
