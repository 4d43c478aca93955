import type { ActionStep, Face } from './card.ts';
import type { StepItem } from '../stream-item.ts';
import { ACTION_FACES } from './action-cards.ts';
import { genericFace } from './generic-card.tsx';
import { OBSERVATION_FACES } from './observation-cards.tsx';

/** What a step looks like. Total: any step has a face. */
export function faceOf(step: StepItem, live?: string): Face {
  const { action, observation, unknown, wasAsked } = step;
  if (action) return (ACTION_FACES[action.action] as (given: ActionStep) => Face)({ action, observation, live, wasAsked });
  if (observation) return (OBSERVATION_FACES[observation.observation] as (given: typeof observation) => Face)(observation);
  const raw = unknown?.raw ?? {};
  const name = [raw.action, raw.observation].find((kind) => typeof kind === 'string') as string | undefined;
  const text = [raw.message, raw.content].find((value) => typeof value === 'string' && value !== '') as string | undefined;
  return genericFace(name ?? 'event', 'a kind this version does not know', unknown ? [unknown] : [], text);
}
