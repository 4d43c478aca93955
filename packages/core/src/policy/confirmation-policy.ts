/** Whether an action of the agent runs, waits for a person, or is refused: rules first, then the mode. Pure. */
import { ACTIONS, type ActionDraft, type ActionKind, type ConfirmationMode, type ConfirmationRule } from '@tendon/protocol';
import type { BoundSecret } from '@tendon/protocol/masking';
import { judgeAction } from './judge-action.ts';
import { judgeSecrets } from './judge-secrets.ts';
import { riskOf, type Risk } from './risk.ts';

/** Those that have to be asked before an action is judged. */
export type AnalyzerName = 'model' | 'invariant';

export interface ConfirmationSettings {
  readonly mode: ConfirmationMode;
  readonly rules: readonly ConfirmationRule[];
  /** Whose word the mode `risk` takes: rules of our own, the `security_risk` of the model's call, or an analyzer that is asked. */
  readonly analyzer: 'rules' | 'llm' | AnalyzerName;
  /** So long after it asked, an action that nobody decided about is rejected; default: never. */
  readonly deadlineMs?: number | undefined;
  /** Secrets that may go to some hosts alone; default: none. */
  readonly secrets?: readonly BoundSecret[] | undefined;
  /** Nobody is there to ask: what would wait is denied. Default false. */
  readonly isUnattended?: boolean | undefined;
}

export interface Verdict {
  readonly decision: 'allow' | 'ask' | 'deny';
  /** One sentence without a full stop. */
  readonly reason: string;
  /** What the analyzer made of it; the action shows it in place of the model's own. */
  readonly risk?: Risk;
  /** The analyzer on whose word it depends, and which was not asked. */
  readonly needs?: AnalyzerName;
}

/** What a hook of the user says of an action: it can only be stricter than the rules. */
export interface HookVerdict {
  readonly decision: 'ask' | 'block';
  readonly reason: string;
}

/** What is known about the action beside itself. */
export interface ActionContext {
  /** Where the shell stands, if that is known. */
  readonly folder: string | undefined;
  readonly hook?: HookVerdict | undefined;
  /** What the analyzer that the mode needs made of it. */
  readonly analyzed?: Risk | undefined;
  /** A person wrote it, so somebody is there. */
  readonly isAttended?: boolean;
}

/** Asked once, before the action is appended. */
export type ConfirmationPolicy = (action: ActionDraft, context: ActionContext) => Verdict;

const ALLOWED: Verdict = { decision: 'allow', reason: 'nothing asks' };

/** They do no harm by themselves, so no mode asks about them; a rule can. */
const WAITS_BY_RULE: ReadonlySet<ActionKind> = new Set(['read', 'browse', 'delegate']);

export function createConfirmationPolicy(settings: () => ConfirmationSettings): ConfirmationPolicy {
  return (action, { folder, hook, analyzed, isAttended }) => {
    const current = settings();
    const judged = withSecrets(judge(current, action, { folder, analyzed }), action, current.secrets);
    const verdict = withHook(judged, action, hook);
    const isDenied = current.isUnattended && !isAttended && verdict.decision === 'ask';
    return isDenied ? { ...verdict, decision: 'deny', reason: `${verdict.reason}, and nobody is there to decide` } : verdict;
  };
}

/** In every mode: who bound the secret decided. */
function withSecrets(verdict: Verdict, action: ActionDraft, secrets: readonly BoundSecret[] = []): Verdict {
  const found = verdict.decision === 'deny' ? undefined : judgeSecrets(action, secrets);
  return found ? { ...settled(verdict), ...found } : verdict;
}

/** No analyzer decides it any more. */
function settled({ needs: _needs, ...verdict }: Verdict): Verdict {
  return verdict;
}

function withHook(verdict: Verdict, action: ActionDraft, hook: HookVerdict | undefined): Verdict {
  if (!hook || verdict.decision === 'deny') return verdict;
  if (hook.decision === 'block') return { decision: 'deny', reason: hook.reason };
  if (ACTIONS[action.action].traits.confirmable) return { ...settled(verdict), decision: 'ask', reason: hook.reason };
  return { decision: 'deny', reason: `${hook.reason}, and this kind of action cannot wait for a person` };
}

function judge(
  { mode, rules, analyzer }: ConfirmationSettings,
  action: ActionDraft,
  { folder, analyzed }: Pick<ActionContext, 'folder' | 'analyzed'>,
): Verdict {
  // Where no rule can say no, nothing is to be found out.
  const heeded = mode === 'always' || mode === 'never' ? rules.filter(({ decision }) => decision !== 'allow') : rules;
  if (mode === 'never' && heeded.length === 0) return ALLOWED;
  const { confirmable } = ACTIONS[action.action].traits;
  if (!confirmable && heeded.every(({ decision }) => decision === 'allow')) return ALLOWED;
  const { decision, reason, isDoubt } = judgeAction(action, heeded, folder);
  if (decision === 'deny') return { decision, reason };
  if (!confirmable) return WAITS_BY_RULE.has(action.action) ? askedByRule(action, heeded, folder) : ALLOWED;
  if (mode === 'always') return { decision: 'ask', reason: 'every action asks' };
  if (decision === 'allow' || (decision === 'ask' && !isDoubt)) return { decision, reason };
  if (mode === 'rules') return { decision: 'ask', reason };
  if (mode === 'never') return decision === 'ask' ? { decision, reason } : ALLOWED;
  const doubt = decision === 'ask' && heeded.some((rule) => rule.decision !== 'allow') ? reason : undefined;
  const needs = (analyzer === 'model' || analyzer === 'invariant') && analyzed === undefined ? { needs: analyzer } : undefined;
  return { ...judgeRisk(analyzed ?? riskBy(analyzer, action), doubt), ...(doubt === undefined && needs) };
}

function riskBy(analyzer: ConfirmationSettings['analyzer'], action: ActionDraft): Risk {
  if (analyzer === 'rules') return riskOf(action);
  return analyzer === 'llm' ? ((action.args as { readonly security_risk?: Risk }).security_risk ?? -1) : -1;
}

/** A folder that holds a denied path can be listed: of such an action only what a rule asks about waits. */
function askedByRule(action: ActionDraft, rules: readonly ConfirmationRule[], folder: string | undefined): Verdict {
  const asking = rules.filter(({ decision }) => decision === 'ask');
  const { decision, reason } = judgeAction(action, asking, folder);
  return decision === 'ask' ? { decision, reason } : ALLOWED;
}

/** `doubt`: a rule may forbid it, which cannot be seen. High and unknown risk ask. */
function judgeRisk(risk: Risk, doubt: string | undefined): Verdict {
  if (doubt !== undefined) return { decision: 'ask', reason: doubt, risk };
  if (risk === 2) return { decision: 'ask', reason: 'the risk is high', risk };
  return risk === -1
    ? { decision: 'ask', reason: 'the risk is not known', risk }
    : { decision: 'allow', reason: 'the risk is not high', risk };
}
