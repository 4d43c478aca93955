import type { Secret } from './secret.ts';
import { createMask, type Mask } from './secret-mask.ts';

export interface LiveMask extends Mask {
  /** Its secrets are hidden from now on, as they are after each `renew`. */
  add(source: () => readonly Secret[]): void;
  /** The next use looks up what there is to hide. */
  renew(): void;
}

/**
 * A mask over secrets that come and go: a key that is stored while a task runs is hidden from then on. What there is to hide is not
 * looked up for each text; who changes a secret calls `renew`, in the same tick.
 */
export function createLiveMask(): LiveMask {
  const sources: (() => readonly Secret[])[] = [];
  let mask: Mask | undefined;
  const current = (): Mask => (mask ??= createMask(sources.flatMap((source) => source())));
  const renew = (): void => {
    mask = undefined;
  };
  return {
    add(source) {
      sources.push(source);
      renew();
    },
    renew,
    text: (text) => current().text(text),
    draft: (draft) => current().draft(draft),
    stream: () => current().stream(),
  };
}
