/** Lets at most `limit` tasks run at a time, the others wait in order; one whose signal aborts leaves the queue. */
export function admission(limit: number): <T>(task: () => Promise<T>, signal: AbortSignal) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;

  return async (task, signal) => {
    if (running >= limit) await turn(waiting, signal);
    else running += 1;
    try {
      signal.throwIfAborted();
      return await task();
    } finally {
      // The place goes to the next in the queue, so `running` only falls when nobody waits.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

function turn(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const enter = (): void => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    const leave = (): void => {
      const place = waiting.indexOf(enter);
      if (place >= 0) waiting.splice(place, 1);
      reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    waiting.push(enter);
  });
}
