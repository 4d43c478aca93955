import type { OutputFrame } from '@tendon/protocol';
import type { Wire } from './wire.ts';

/** Output for a client that does not keep up, in order and bounded: the oldest is dropped, and the offsets show the gap. */
export interface LateOutput {
  /** True when the frame waits here, and is sent when the client has taken what is under way. */
  holds(frame: OutputFrame): boolean;
}

const MAX_CHARS = 1024 * 1024;

export function createLateOutput(wire: Wire, maxUnsentBytes: number): LateOutput {
  const frames: OutputFrame[] = [];
  let chars = 0;

  async function send(): Promise<void> {
    while (frames.length > 0 && !wire.closed.aborted) {
      await wire.unsent.drained(maxUnsentBytes / 2);
      const frame = frames.shift();
      if (!frame) return;
      chars -= frame.text.length;
      wire.sendVolatile(frame);
    }
  }

  return {
    holds(frame) {
      // Another action's output has begun: nobody asks for the rest of the one before.
      if (frames.length > 0 && frames[0]!.cause !== frame.cause) frames.length = chars = 0;
      if (frames.length === 0 && wire.unsent.bytes <= maxUnsentBytes) return false;
      frames.push(frame);
      chars += frame.text.length;
      while (chars > MAX_CHARS && frames.length > 1) chars -= frames.shift()!.text.length;
      if (frames.length === 1) void send();
      return true;
    },
  };
}
