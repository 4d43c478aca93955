/**
 * The newest of any number of bytes, in memory that does not grow: at least `keptBytes` of them, at most twice as many. What is
 * pushed is copied; what goes for it is told in order, in pieces that are valid during the call.
 */
export interface NewestBytes {
  push(bytes: Buffer): void;
  /** Everything that is kept; afterwards it is empty. */
  take(): Buffer;
}

export function createNewestBytes(keptBytes: number, onGone?: (bytes: Buffer) => void): NewestBytes {
  let older: Buffer | undefined; // full
  let newer: Buffer | undefined;
  let filled = 0;

  function turnOver(): void {
    const gone = older;
    if (gone) onGone?.(gone);
    older = newer;
    newer = gone;
    filled = 0;
  }

  return {
    push(bytes) {
      for (let rest = bytes; rest.length > 0;) {
        if (filled === keptBytes) turnOver();
        newer ??= Buffer.allocUnsafeSlow(keptBytes);
        const copied = rest.copy(newer, filled);
        filled += copied;
        rest = rest.subarray(copied);
      }
    },
    take() {
      const all = Buffer.concat([older ?? Buffer.alloc(0), newer?.subarray(0, filled) ?? Buffer.alloc(0)]);
      older = undefined;
      newer = undefined;
      filled = 0;
      return all;
    },
  };
}
