import type { Frame, VolatileFrame } from '@tendon/protocol';
import type { Unsent } from './unsent.ts';

/** One client's socket, whatever it is made of. Sending never waits and never throws; a closed wire swallows frames. */
export interface Wire {
  send(frame: Frame): void;
  /** Whether it has a channel beside the stream. */
  readonly carriesVolatile: boolean;
  /** Frames that only newer clients know, beside the stream; a wire without such a channel drops them. */
  sendVolatile(frame: VolatileFrame): void;
  readonly unsent: Unsent;
  /** Stops and goes on reading from the client, where the transport can. */
  pauseReading(): void;
  resumeReading(): void;
  /** `reason` is for the log of the other side. */
  close(reason: string): void;
  /** Aborts when the wire is closed, by whichever side. */
  readonly closed: AbortSignal;
}
