const READ_MS = 20;

/**
 * Acts when something has not come for so long. A process that was not given the processor meanwhile finds its timers due before
 * it has read what came: that is read first. Gives what cancels it.
 */
export function startTrailing(ms: number, act: () => void): () => void {
  let timer = setTimeout(() => (timer = setTimeout(act, READ_MS)), ms);
  return () => clearTimeout(timer);
}
