import type { DeltaFrame } from '@tendon/protocol';
import type { MaskedStream } from '../secret-mask.ts';
import type { Engine } from './engine.ts';

type Part = DeltaFrame['part'];

/** Shows a growing answer as volatile frames. A retry makes what was shown void: offsets begin at 0 again. */
export function createDeltaFrames(turn: number, { mask, emit }: Pick<Engine, 'mask' | 'emit'>): DeltaFrames {
  let parts = new Map<Part, { readonly masked: MaskedStream; offset: number }>();

  function show(part: Part, text: string, entry: { offset: number }): void {
    if (text === '') return;
    emit({ volatile: 'delta', turn, part, offset: entry.offset, text });
    entry.offset += text.length;
  }

  return {
    push(part, text) {
      const entry = parts.get(part) ?? { masked: mask.stream(), offset: 0 };
      parts.set(part, entry);
      show(part, entry.masked.push(text), entry);
    },
    restart() {
      parts = new Map();
    },
  };
}

export interface DeltaFrames {
  push(part: Part, text: string): void;
  restart(): void;
}
