import type { Session } from '../session.ts';

/** Hundredths of a second between two looks. */
const IDLE_TICKS = 2;

/** Whether what has the terminal waits for input, from the second look on: one that works beside its wait will go on by itself. */
export function createInputLook(session: Session): () => boolean {
  let ticks = Number.NaN;
  return () => {
    const look = session.look();
    const wasIdle = look.ticks - ticks <= IDLE_TICKS;
    ticks = look.ticks;
    return look.awaitsInput && wasIdle;
  };
}
