/**
 * Agents of all conversations begin their turns in the order in which they come, at most `perRound` in one round of the event loop:
 * however many are ready at once, what clients ask is answered between. An agent alone never waits, and nobody waits for a model.
 */
export function fairTurns(perRound: number): <T>(begin: () => Promise<T>) => () => Promise<T> {
  const waiting: (() => void)[] = [];
  let begun = 0;

  const nextRound = (): void => {
    begun = Math.min(perRound, waiting.length);
    for (const enter of waiting.splice(0, begun)) enter();
    if (begun > 0) setImmediate(nextRound);
  };

  return (begin) => async () => {
    if (begun >= perRound) await new Promise<void>((resolve) => void waiting.push(resolve));
    else if (begun++ === 0) setImmediate(nextRound);
    return begin();
  };
}
