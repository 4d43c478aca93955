import * as fc from 'fast-check';
import type { Attacked } from './attacked.ts';

export interface Volleys extends Pick<Attacked, 'expectUnharmed' | 'heldBytes'> {
  /** Each throws some of its own at the endpoint, drawn from the seed. */
  readonly volleys: readonly ((seed: number) => Promise<void>)[];
}

const PER_VOLLEY = 20;

export function volley<T>(arbitrary: fc.Arbitrary<T>, shoot: (drawn: T) => Promise<unknown>): (seed: number) => Promise<void> {
  const property = fc.asyncProperty(arbitrary, async (drawn) => void (await shoot(drawn)));
  return (seed) => fc.assert(property, { numRuns: PER_VOLLEY, seed, endOnFailure: true });
}
