import type { Observation } from '@tendon/protocol';
import { Well } from '../../code/well.tsx';

/** What went wrong with an action, in the words it came with. */
export function failureBody(observation: Observation | undefined): (() => React.ReactNode) | undefined {
  if (observation?.observation !== 'error' && observation?.observation !== 'user_rejected') return undefined;
  const { content } = observation;
  return content.trim() ? () => <Well text={content} /> : undefined;
}
