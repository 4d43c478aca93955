import type { Action } from '@tendon/protocol';
import { decisionWords, isHighRisk } from '../terminal/waiting.ts';

/** Reads what a person types while an action waits as a decision. */
export type DecisionReply =
  | { readonly do: 'approve' }
  | { readonly do: 'reject'; readonly reason: string }
  | { readonly do: 'edit' }
  | { readonly do: 'always' }
  | { readonly do: 'say'; readonly text: string }
  /** It could not be understood. */
  | { readonly do: 'ask-again' };

/** `isHigh`: a single letter approves nothing. Any other text goes to the agent. */
export function decisionReply(line: string, isHigh: boolean): DecisionReply {
  const text = line.trim();
  const [first = '', ...rest] = text.split(/\s+/);
  const answer = first.toLowerCase();
  if (rest.length === 0 && (answer === 'yes' || (answer === 'y' && !isHigh))) return { do: 'approve' };
  if (answer === 'n' || answer === 'no') return { do: 'reject', reason: rest.join(' ') };
  if (rest.length === 0 && (answer === 'e' || answer === 'edit')) return { do: 'edit' };
  if (rest.length === 0 && (answer === 'always' || (answer === 'a' && !isHigh))) return { do: 'always' };
  return text.length < 3 ? { do: 'ask-again' } : { do: 'say', text };
}

/** What can be answered. */
export function answerLine(action: Action): string {
  const [yes, always] = isHighRisk(action) ? ['yes', 'always'] : ['y', 'a'];
  const edit = decisionWords(action).canEdit ? ['[e] edit'] : [];
  return [`  [${yes}] approve`, '[n reason] reject', ...edit, `[${always}] always here`].join('   ');
}
