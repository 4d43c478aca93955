import type { ActionStep, Card } from './card.ts';
import type { StepItem } from '../stream-item.ts';
import { ACTION_CARDS } from './action-cards.ts';
import { genericCard } from './generic-card.tsx';
import { OBSERVATION_CARDS } from './observation-cards.tsx';

/** What a step looks like. Total: any step has a card. */
export function cardOf(step: StepItem, live?: string): Card {
  const { action, observation, unknown, wasAsked } = step;
  if (action) return (ACTION_CARDS[action.action] as (given: ActionStep) => Card)({ action, observation, live, wasAsked });
  if (observation) return (OBSERVATION_CARDS[observation.observation] as (given: typeof observation) => Card)(observation);
  const raw = unknown?.raw ?? {};
  const name = [raw.action, raw.observation].find((kind) => typeof kind === 'string') as string | undefined;
  const text = [raw.message, raw.content].find((value) => typeof value === 'string' && value !== '') as string | undefined;
  return genericCard(name ?? 'event', 'a kind this version does not know', unknown ? [unknown] : [], text);
}
