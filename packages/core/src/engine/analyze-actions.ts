/** Asks an analyzer about the actions of an answer whose risk decides whether a person is asked. */
import type { ActionDraft } from '@tendon/protocol';
import type { SourcedDraft } from '../log/event-log.ts';
import type { AnalyzerName } from '../policy/confirmation-policy.ts';
import type { Risk } from '../policy/risk.ts';
import { folderOf, type Destination, type ParsedAnswer } from './answer-to-drafts.ts';
import type { HookedCalls } from './hooks.ts';
import { engineError } from './notices.ts';
import type { LoopPorts } from './ports.ts';
import type { AddedCost, Analysis } from './host-capabilities.ts';

export function unanalyzed(problem: string): Analysis {
  return { risk: -1, problem };
}

export interface AnalyzedCalls {
  /** One for each call of the answer; undefined where nothing depends on it. */
  readonly risks: readonly (Risk | undefined)[];
  readonly notices: readonly SourcedDraft[];
  readonly spent: readonly AddedCost[];
}

/** Before anything of an answer is in the log, like hooks: a server that is killed meanwhile asks again. */
export async function analyzeActions(
  { policy, analyzers, folded }: Pick<LoopPorts, 'policy' | 'analyzers' | 'folded'>,
  { calls }: ParsedAnswer,
  { destination, hooked, signal }: { readonly destination: Destination; readonly hooked: HookedCalls; readonly signal: AbortSignal },
): Promise<AnalyzedCalls> {
  let folder = folderOf({ shell: folded.state.shell, destination });
  const asked = calls.map((call, index) => {
    if (!call.ok || signal.aborted) return undefined;
    const { needs } = policy(call.action, { folder, hook: hooked.verdicts[index] });
    if (call.action.action === 'run') folder = undefined;
    return needs && analyzeAction({ analyzers }, needs, { action: call.action, signal });
  });
  const found = await Promise.all(asked);
  return {
    risks: found.map((each) => each?.risk),
    notices: unanalyzedNotices(found),
    spent: found.flatMap((each) => each?.spent ?? []),
  };
}

export interface NamedAnalysis extends Analysis {
  readonly name: AnalyzerName;
}

export async function analyzeAction(
  { analyzers }: Pick<LoopPorts, 'analyzers'>,
  name: AnalyzerName,
  { action, signal }: { readonly action: ActionDraft; readonly signal: AbortSignal },
): Promise<NamedAnalysis> {
  return { name, ...((await analyzers[name]?.analyze(action, signal)) ?? unanalyzed('it is not set up')) };
}

/** One for each problem that there was. */
export function unanalyzedNotices(found: readonly (NamedAnalysis | undefined)[]): readonly SourcedDraft[] {
  const problems = found.flatMap((each) => (each?.problem === undefined ? [] : [failureOf(each.name, each.problem)]));
  return [...new Set(problems)].map((problem) => engineError(problem, 'AGENT_ERROR$ANALYZER_FAILED'));
}

function failureOf(name: AnalyzerName, problem: string): string {
  return `The security analyzer “${name}” could not judge an action: ${problem.replace(/\.$/, '')}. Its risk is unknown, so a person is asked.`;
}
