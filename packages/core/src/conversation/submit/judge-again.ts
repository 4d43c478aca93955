import { isActive, NullObservation, type Action, type LlmMetrics } from '@tendon/protocol';
import type { SourcedDraft } from '../../log/event-log.ts';
import { analyzeAction, unanalyzedNotices, type NamedAnalysis } from '../../engine/analyze-actions.ts';
import type { EngineState } from '../../engine/engine-state.ts';
import { askBeforeAction, type HookedAction } from '../../engine/hooks.ts';
import { awaitsConfirmation, pendingInOrder } from '../../engine/next-step.ts';
import { addedAgain, answerTo, stateChanged } from '../../engine/notices.ts';
import type { LoopPorts } from '../../engine/ports.ts';
import type { Verdict } from '../../policy/confirmation-policy.ts';

type Ports = Pick<LoopPorts, 'folded' | 'sandbox' | 'aborts' | 'hooks' | 'policy' | 'analyzers'>;

/** What hooks and the analyzer say of an action that waits. */
interface Opinion {
  readonly hooked: HookedAction | undefined;
  readonly analyzed: NamedAnalysis | undefined;
}

interface Opinions {
  readonly executor: string;
  readonly of: ReadonlyMap<number, Opinion>;
}

/**
 * After a change of the policy: the notice of it, and what waits and is allowed by now runs, in one commit. What is still asked about, or
 * denied, goes on waiting, and so does what comes behind it; so does everything where there is no sandbox. False when the conversation was
 * closed meanwhile: nothing is in the log then. Rejects with the storage's error.
 */
export async function judgeAgain(ports: Ports, notice: SourcedDraft): Promise<boolean> {
  const { folded, aborts, policy } = ports;
  const opinions = await askAbout(ports);
  if (aborts.closing.aborted) return false;
  const found = [...(opinions?.of.values() ?? [])].map(({ analyzed }) => analyzed);
  await folded.append((state) => {
    const spent = found.reduce<LlmMetrics | undefined>((metrics, each) => each?.spent?.(metrics) ?? metrics, state.metrics);
    const reported = spent && spent !== state.metrics ? { ...notice, llm_metrics: spent } : notice;
    const lead = [reported, ...unanalyzedNotices(found)];
    return opinions ? [...lead, ...released(state, policy, opinions)] : lead;
  });
  return true;
}

/** Of those that may run by now, in order, as far as they are allowed. Undefined when nothing could run. */
async function askAbout(ports: Ports): Promise<Opinions | undefined> {
  const { folded, sandbox, aborts, policy } = ports;
  const isPossible = ({ decision, needs }: Verdict): boolean => decision === 'allow' || needs !== undefined;
  const possible = (executor: string | undefined): readonly Action[] => {
    const placed = waitingIn(folded.state, executor);
    const end = placed.findIndex(({ action, folder }) => !isPossible(policy(action, { folder })));
    return placed.slice(0, end < 0 ? undefined : end).map(({ action }) => action);
  };
  if (possible(sandbox.incarnation()).length === 0) return undefined;
  const acquired = await sandbox.acquire(aborts.closing);
  if (!acquired.ok) return undefined;
  const { incarnation: executor } = acquired.runtime;
  const of = new Map<number, Opinion>();
  for (const action of possible(executor)) {
    const hooked = await askBeforeAction(ports, action, aborts.closing);
    const { folder } = waitingIn(folded.state, executor).find(({ action: { id } }) => id === action.id) ?? {};
    const context = { folder, hook: hooked?.verdict };
    const { needs } = policy(action, context);
    const analyzed = needs && (await analyzeAction(ports, needs, { action, signal: aborts.closing }));
    of.set(action.id, { hooked, analyzed });
    if (aborts.closing.aborted || policy(action, { ...context, analyzed: analyzed?.risk }).decision !== 'allow') break;
  }
  return { executor, of };
}

/** Those that nothing asks about any more, up to the first that goes on waiting. */
function released(state: EngineState, policy: LoopPorts['policy'], { executor, of }: Opinions): readonly SourcedDraft[] {
  const added: SourcedDraft[] = [];
  for (const { action, folder } of waitingIn(state, executor)) {
    const opinion = of.get(action.id);
    if (!opinion) break;
    const { hooked, analyzed } = opinion;
    const { decision, risk } = policy(action, { folder, hook: hooked?.verdict, analyzed: analyzed?.risk });
    if (decision !== 'allow') break;
    const judged =
      risk !== undefined && 'security_risk' in action.args ? { ...action, args: { ...action.args, security_risk: risk } } : action;
    const replaced = answerTo(action, NullObservation.create('', {}));
    added.push(replaced, ...(hooked?.notices ?? []), addedAgain(judged as Action, 'confirmed', executor));
  }
  const wasAsked = added.length > 0 && state.conversation.agentState === 'awaiting_user_confirmation';
  return [...added, ...(wasAsked ? [stateChanged('user_confirmed'), stateChanged('running')] : [])];
}

interface Waiting {
  readonly action: Action;
  /** Where its first command would run; of the others that is seen when those before it have run. */
  readonly folder: string | undefined;
}

/** In their order; none while the agent is paused or was asked to end. */
function waitingIn({ conversation, shell, requested }: EngineState, executor: string | undefined): readonly Waiting[] {
  const { agentState, pending } = conversation;
  if (requested || !(isActive(agentState) || agentState === 'awaiting_user_confirmation')) return [];
  const inOrder = pendingInOrder(pending);
  const folder = shell && shell.executor === executor ? shell.folder : undefined;
  return inOrder.filter(awaitsConfirmation).map((action) => ({ action, folder: action === inOrder[0] ? folder : undefined }));
}
