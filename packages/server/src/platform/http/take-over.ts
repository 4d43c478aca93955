import type { Server } from 'node:http';

/** The listeners that were set before get what `take` leaves: at once where it returns false, later where it calls `pass`. */
export function takeOver<Args extends unknown[]>(
  http: Server,
  event: 'request' | 'upgrade',
  take: (pass: () => void, ...args: Args) => boolean,
): void {
  const others = http.listeners(event) as ((...args: Args) => void)[];
  http.removeAllListeners(event);
  http.on(event, ((...args: Args) => {
    const pass = (): void => {
      for (const listener of others) listener.apply(http, args);
    };
    if (!take(pass, ...args)) pass();
  }) as () => void);
}
