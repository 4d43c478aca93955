import type { TurnSpan } from '../conversation/turn-spans.ts';
import type { StreamItem } from './stream-item.ts';

/** The same rows, with a receipt behind the last one of each of these turns. */
export function withReceipts(items: readonly StreamItem[], spans: readonly TurnSpan[]): readonly StreamItem[] {
  if (spans.length === 0) return items;
  const all: StreamItem[] = [];
  let next = 0;
  const close = (before: number): void => {
    for (let span = spans[next]; span && span.end < before; span = spans[next]) {
      all.push({ type: 'receipt', key: `receipt${span.start}`, id: span.end, at: all.at(-1)?.at ?? '', span });
      next += 1;
    }
  };
  for (const item of items) {
    close(item.id);
    all.push(item);
  }
  close(Number.POSITIVE_INFINITY);
  return all;
}
