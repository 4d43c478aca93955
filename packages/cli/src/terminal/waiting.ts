import type { Action } from '@tendon/protocol';
import type { ConversationState } from '@tendon/protocol/reduce';

/** The action that waits for a person, if one does. */
export function waitingAction({ agentState, pending }: Pick<ConversationState, 'agentState' | 'pending'>): Action | undefined {
  if (agentState !== 'awaiting_user_confirmation') return undefined;
  const isMarked = ({ args }: Action) => 'confirmation_state' in args && args.confirmation_state === 'awaiting_confirmation';
  return pending.findLast(isMarked);
}

/** The question, and the whole action that would run. */
export function decisionWords(action: Action): { readonly question: string; readonly what: string; readonly canEdit: boolean } {
  switch (action.action) {
    case 'run':
      return { question: 'Run this command?', what: action.args.command, canEdit: !action.args.is_input };
    case 'run_ipython':
      return { question: 'Run this Python?', what: action.args.code, canEdit: true };
    case 'write':
    case 'edit':
      return { question: `Change ${action.args.path}?`, what: changeWords(action), canEdit: false };
    case 'browse_interactive':
      return { question: 'Do this in the browser?', what: action.args.browser_actions, canEdit: false };
    case 'call_tool_mcp':
      return { question: `Use the tool ${action.args.name}?`, what: JSON.stringify(action.args.arguments, undefined, 2), canEdit: false };
    default:
      return {
        question: `Let the agent do this: ${action.action.replaceAll('_', ' ')}?`,
        what: JSON.stringify(action.args, undefined, 2),
        canEdit: false,
      };
  }
}

function changeWords(action: Action<'write'> | Action<'edit'>): string {
  if (action.action === 'write') return action.args.content;
  const { old_str: before, new_str: after, file_text: text, patch, edits } = action.args;
  if (patch !== undefined || text !== null) return patch ?? text ?? '';
  const changes = edits ?? [{ old_str: before ?? '', new_str: after ?? '' }];
  const signed = (sign: string, part: string) => (part === '' ? [] : part.split('\n').map((line) => `${sign} ${line}`));
  return changes.flatMap(({ old_str, new_str }) => [...signed('-', old_str), ...signed('+', new_str)]).join('\n');
}

const RISKS: Readonly<Record<number, string>> = { 0: 'low risk', 1: 'medium risk', 2: 'high risk' };

/** How risky it is and why it waits; empty if neither is known. */
export function whyWords(action: Action): string {
  const risk = RISKS[(action.args as { readonly security_risk?: number }).security_risk ?? -1];
  const reason = action.confirmation_reason;
  // The risk is shown already.
  return [risk, risk !== undefined && reason === 'the risk is high' ? undefined : reason].filter(Boolean).join(', ');
}

export function isHighRisk(action: Action): boolean {
  return (action.args as { readonly security_risk?: number }).security_risk === 2;
}
