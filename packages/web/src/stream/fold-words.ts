import { count } from '../copy/counts.ts';
import type { StepItem } from './stream-item.ts';

const WORDS: readonly (readonly [kinds: readonly string[], words: (n: number) => string])[] = [
  [['read'], (n) => `read ${count(n, 'file')}`],
  [['edit', 'write'], (n) => `changed ${count(n, 'file')}`],
  [['run'], (n) => `ran ${count(n, 'command')}`],
  [['run_ipython'], (n) => `ran ${count(n, 'cell')}`],
  [['browse', 'browse_interactive'], (n) => `used the browser${n > 1 ? ` ${n} times` : ''}`],
  [['call_tool_mcp', 'mcp'], (n) => `called ${count(n, 'tool')}`],
  [['recall'], () => 'recalled notes'],
  [['think'], (n) => count(n, 'thought')],
];

/** "read 4 files, ran 3 commands". */
export function foldWords(steps: readonly StepItem[]): string {
  const kinds = steps.map((step) => step.action?.action ?? step.observation?.observation ?? '');
  return WORDS.flatMap(([of, words]) => {
    const n = kinds.filter((kind) => of.includes(kind)).length;
    return n > 0 ? [words(n)] : [];
  }).join(', ');
}
