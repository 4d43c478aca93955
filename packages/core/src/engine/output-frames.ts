import type { OutputChunk } from '../sandbox/runtime.ts';
import type { Engine } from './engine.ts';

/** Shows a running action's output as volatile frames, with secrets hidden also where a chunk cuts them in two. */
export function createOutputFrames(cause: number, { mask, emit }: Pick<Engine, 'mask' | 'emit'>): OutputFrames {
  const masked = mask.stream();
  /** Bytes of the whole output: received, and shown so far. */
  let received: number | undefined;
  let shown = 0;

  function show(text: string): void {
    if (text === '') return;
    emit({ volatile: 'output', cause, offset: shown, text });
    shown += byteLength(text);
  }

  return {
    push(chunk) {
      shown += chunk.offset - (received ?? 0);
      received = chunk.offset + byteLength(chunk.text);
      show(masked.push(chunk.text));
    },
    end: () => show(masked.flush()),
  };
}

export interface OutputFrames {
  readonly push: (chunk: OutputChunk) => void;
  readonly end: () => void;
}

const encoder = new TextEncoder();

function byteLength(text: string): number {
  return encoder.encode(text).length;
}
