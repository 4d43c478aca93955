import type { Foreground } from './foreground.ts';
import type { Session } from '../session.ts';

const STAGES = [
  { signal: 'SIGINT', waitMs: 2000 },
  { signal: 'SIGTERM', waitMs: 2000 },
  { signal: 'SIGKILL', waitMs: 2000 },
] as const;

/** Interrupts, then terminates, then kills what has the terminal; at last the shell itself. Returns when the command has ended. */
export async function cancelForeground(session: Session, running: Foreground): Promise<void> {
  for (const { signal, waitMs } of STAGES) {
    if (running.ended) return;
    if (signal === 'SIGINT') session.type('\u0003');
    session.signal(signal);
    await ended(running, waitMs);
  }
  if (running.ended) return;
  session.kill();
  await ended(running, 2000);
}

function ended(running: Foreground, waitMs: number): Promise<void> {
  if (running.ended) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, waitMs);
    running.onEnd = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
