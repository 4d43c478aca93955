/** What programs of the user's say at five moments of a conversation. The engine asks and obeys; something outside it runs them. */
import { type Action, answeredBy, type ActionDraft, type ObservationDraft, SuccessObservation } from '@tendon/protocol';
import type { SourcedDraft } from '../log/event-log.ts';
import type { HookVerdict } from '../policy/confirmation-policy.ts';
import type { ParsedAnswer } from './answer-to-drafts.ts';
import { STOP_REFUSED, type EngineState } from './engine-state.ts';
import { nextStep } from './next-step.ts';
import { engineError, stateChanged } from './notices.ts';
import type { LoopPorts } from './ports.ts';
import type { HookMoment, HookAnswer } from './host-capabilities.ts';

const HOOK_FAILED = 'AGENT_ERROR$HOOK_FAILED';

type HookPorts = Pick<LoopPorts, 'hooks'>;

export interface HookedCalls {
  /** One for each call of the answer. */
  readonly verdicts: readonly (HookVerdict | undefined)[];
  readonly notices: readonly SourcedDraft[];
}

/** Before anything of an answer is in the log: a server that is killed meanwhile asks model and hooks again. */
export async function askBeforeActions(ports: HookPorts, { calls }: ParsedAnswer, signal: AbortSignal): Promise<HookedCalls> {
  const verdicts: (HookVerdict | undefined)[] = [];
  const notices: SourcedDraft[] = [];
  for (const call of calls) {
    const hooked = call.ok ? await askBeforeAction(ports, call.action, signal) : undefined;
    if (hooked) notices.push(...hooked.notices);
    verdicts.push(hooked?.verdict);
  }
  return { verdicts, notices };
}

export interface HookedAction {
  readonly verdict: HookVerdict | undefined;
  readonly notices: readonly SourcedDraft[];
}

/** Undefined where no hook is asked. */
export async function askBeforeAction({ hooks }: HookPorts, action: ActionDraft, signal: AbortSignal): Promise<HookedAction | undefined> {
  if (!hooks?.has('before_action') || !isHooked(action) || signal.aborted) return undefined;
  const answer = await hooks.run({ moment: 'before_action', action }, { signal });
  const verdict = answer.decision === 'go_on' ? undefined : { decision: answer.decision, reason: answer.reason };
  return { verdict, notices: noticesOf('before_action', answer) };
}

/** Thoughts, words and ends do nothing. */
function isHooked({ action }: Pick<ActionDraft, 'action'>): boolean {
  return answeredBy(action) !== 'none' && action !== 'think';
}

/** Before its observation is in the log: a server that is killed meanwhile is given the observation again, and asks again. */
export async function askAfterAction(
  { hooks }: HookPorts,
  action: Action,
  observation: ObservationDraft,
  signal: AbortSignal,
): Promise<readonly SourcedDraft[]> {
  if (!hooks?.has('after_action') || action.source !== 'agent') return [];
  return noticesOf('after_action', await hooks.run({ moment: 'after_action', action, observation }, { signal }));
}

/** With the first turn of a conversation. Resolves with whether the turn may be taken. */
export async function beginSession({ hooks, folded }: HookPorts & Pick<LoopPorts, 'folded'>, signal: AbortSignal): Promise<boolean> {
  await hooks?.refresh();
  if (!hooks?.has('session_start') || !isNew(folded.state)) return true;
  const answer = await hooks.run({ moment: 'session_start' }, { signal });
  if (signal.aborted) return false;
  const isBlocked = answer.decision === 'block';
  const problems = noticesOf('session_start', { ...answer, words: [] });
  const end = isBlocked ? stateChanged('error', { reason: `Not begun: ${answer.reason}` }) : noticeOf('session_start', answer.words);
  await folded.append((state) => (isNew(state) && !state.requested ? [...problems, end] : []));
  return !isBlocked;
}

function isNew({ context, metrics }: EngineState): boolean {
  return !context.hasBegun && metrics === undefined;
}

/** The agent has finished: its end stands, or it is given the reason why not. */
export async function askBeforeStop({
  hooks,
  folded,
  aborts,
  limits,
}: Pick<LoopPorts, 'hooks' | 'folded' | 'aborts' | 'limits'>): Promise<void> {
  const signal = aborts.beginTurn();
  const answer = await hooks?.run({ moment: 'stop' }, { signal });
  if (signal.aborted || !answer) return;
  const isRefused = answer.decision === 'block';
  const refusal = engineError(`Not finished: ${answer.reason}\nGo on, and finish when that is done.`, STOP_REFUSED);
  const end = isRefused ? refusal : stateChanged('finished');
  await folded.append((state) => (nextStep(state, limits).do === 'ask_to_stop' ? [...noticesOf('stop', answer), end] : []));
}

/** Why the conversation must not be made shorter now. */
export async function askBeforeCompaction(
  { hooks, folded }: HookPorts & Pick<LoopPorts, 'folded'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!hooks?.has('before_compaction')) return undefined;
  const answer = await hooks.run({ moment: 'before_compaction' }, { signal });
  const notices = noticesOf('before_compaction', answer);
  if (notices.length > 0 && !signal.aborted) await folded.append(({ requested }) => (requested ? [] : notices));
  return answer.decision === 'block' ? answer.reason : undefined;
}

function noticesOf(moment: HookMoment, { words, problems }: HookAnswer): readonly SourcedDraft[] {
  const failed = problems.map((problem) => engineError(problem, HOOK_FAILED));
  return words.length > 0 ? [...failed, noticeOf(moment, words)] : failed;
}

const MOMENTS = {
  session_start: 'at the start of the conversation',
  before_action: 'before an action',
  after_action: 'after an action',
  stop: 'at the end',
  before_compaction: 'before the conversation is made shorter',
} as const satisfies Record<HookMoment, string>;

function noticeOf(moment: HookMoment, words: readonly string[]): SourcedDraft {
  const content = [`Hooks of the user ran ${MOMENTS[moment]}.`, ...words].join('\n');
  return { source: 'environment', ...SuccessObservation.create(content, { hook: moment }) };
}
