import type { Microagent } from './parse-microagent.ts';

export type Knowledge = {
  readonly name: string;
  /** The word that brought it; empty when it was asked for by name. */
  readonly trigger: string;
  readonly content: string;
};

/** UTF-16 units of everything that one recall brings. */
const MAX_CHARS = 256 * 1024;

/** Knowledge one of whose trigger words is in the text, whatever its case, but for what was shown already. */
export function triggered(microagents: readonly Microagent[], text: string, shown: ReadonlySet<string>): Knowledge[] {
  const lower = text.toLowerCase();
  const found: Knowledge[] = [];
  let left = MAX_CHARS;
  for (const { name, triggers, content } of microagents) {
    const trigger = triggers.find((word) => lower.includes(word.toLowerCase()));
    if (trigger === undefined || shown.has(name) || content.length > left) continue;
    left -= content.length;
    found.push({ name, trigger, content });
  }
  return found;
}
