import type { StreamItem } from './stream-item.ts';

/** Pixels a row will take before it was measured, by kind. */
export function estimateHeight(item: StreamItem): number {
  switch (item.type) {
    case 'turn':
      return 44;
    case 'speech':
      return 12 + 22 * Math.ceil(item.text.length / 68);
    case 'note':
      return 28;
    case 'step':
    case 'fold':
      return 32;
  }
}
