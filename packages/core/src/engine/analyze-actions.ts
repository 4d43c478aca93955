/** Asks an analyzer about the actions of an answer whose risk decides whether a person is asked. */
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
    return needs && { name: needs, analysis: analyzers[needs]?.analyze(call.action, signal) ?? unanalyzed('it is not set up') };
  });
  const found = await Promise.all(asked.map(async (each) => each && { name: each.name, ...(await each.analysis) }));
  const problems = found.flatMap((each) => (each?.problem === undefined ? [] : [failureOf(each.name, each.problem)]));
  return {
    risks: found.map((each) => each?.risk),
    notices: [...new Set(problems)].map((problem) => engineError(problem, 'AGENT_ERROR$ANALYZER_FAILED')),
    spent: found.flatMap((each) => each?.spent ?? []),
  };
}

function failureOf(name: AnalyzerName, problem: string): string {
  return `The security analyzer “${name}” could not judge an action: ${problem.replace(/\.$/, '')}. Its risk is unknown, so a person is asked.`;
}
