import { t } from '../lib/language/text.ts';
import { money } from './figures.ts';

export interface ReachedLimit {
  readonly words: string;
  /** It goes on only when there is more money; steps are counted anew. */
  readonly isBudget: boolean;
}

/** A limit that the person set, if that is why the agent rests: nothing failed then. The server's own sentences are what says so. */
export function reachedLimit(reason = ''): ReachedLimit | undefined {
  const [, steps] = /^The agent took (\d+) steps since your last message, which is the limit\./.exec(reason) ?? [];
  if (steps) return { words: t('Paused after {{count}} steps, your limit', { count: Number(steps) }), isBudget: false };
  const [, budget] = /; its budget is \$([\d.]+)\. Raise the budget to go on\.$/.exec(reason) ?? [];
  return budget === undefined
    ? undefined
    : { words: t('Paused: the budget of {{budget}} is used up', { budget: money(Number(budget)) }), isBudget: true };
}
