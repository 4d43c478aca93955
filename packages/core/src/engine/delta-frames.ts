import type { DeltaFrame } from '@tendon/protocol';
import type { MaskedStream } from '@tendon/protocol/masking';
import type { HostPorts } from './ports.ts';

type Part = DeltaFrame['part'];

interface Growing {
  readonly masked: MaskedStream;
  /** What was shown so far, in UTF-16 units. */
  offset: number;
  waiting: string;
}

/** Models send a token at a time, and each frame is a system call for each client: nobody reads faster than this. */
const PAUSE_MS = 30;

/** Shows a growing answer as volatile frames. A retry makes what was shown void: offsets begin at 0 again. */
export function createDeltaFrames(
  turn: number,
  { mask, emit, clock }: Pick<HostPorts, 'mask' | 'emit' | 'clock'>,
  signal: AbortSignal,
): DeltaFrames {
  let parts = new Map<Part, Growing>();
  let isPausing = false;

  function show(): void {
    for (const [part, growing] of parts) {
      const { waiting: text, offset } = growing;
      if (text === '') continue;
      growing.waiting = '';
      growing.offset += text.length;
      emit({ volatile: 'delta', turn, part, offset, text });
    }
  }

  async function pause(): Promise<void> {
    isPausing = true;
    await clock.sleep(PAUSE_MS, { signal }).catch(() => undefined);
    isPausing = false;
    show();
  }

  return {
    push(part, text) {
      const growing = parts.get(part) ?? { masked: mask.stream(), offset: 0, waiting: '' };
      parts.set(part, growing);
      growing.waiting += growing.masked.push(text);
      if (isPausing) return;
      show();
      void pause();
    },
    restart() {
      parts = new Map();
    },
    end: show,
  };
}

export interface DeltaFrames {
  push(part: Part, text: string): void;
  restart(): void;
  /** Shows what still waits. */
  end(): void;
}
