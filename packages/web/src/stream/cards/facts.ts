import { between, duration } from '../../copy/times.ts';
import type { ActionStep, Fact } from './card.ts';

/** How long it took, when that is a second or more. */
export function durationFacts({ action, observation }: ActionStep): readonly Fact[] {
  const ms = between(action.timestamp, observation?.timestamp);
  return ms === undefined || ms < 1000 ? [] : [{ text: duration(ms) }];
}

/** An action that was held back and decided on, or that failed before it ran. */
export function outcomeFacts({ action, observation, wasAsked }: ActionStep): readonly Fact[] {
  const args = action.args as { readonly confirmation_state?: unknown };
  if (observation?.observation === 'user_rejected' || args.confirmation_state === 'rejected') return [{ text: 'rejected', tone: 'bad' }];
  if (observation?.observation === 'error') return [{ text: 'failed', tone: 'bad' }];
  if (args.confirmation_state === 'awaiting_confirmation' && !observation) return [{ text: 'waits for you', tone: 'wait' }];
  return wasAsked ? [{ text: 'approved by you' }] : [];
}

/** Facts as part of a sentence. */
export function spoken(facts: readonly Fact[]): string {
  return facts.map((fact) => `, ${fact.text}`).join('');
}
