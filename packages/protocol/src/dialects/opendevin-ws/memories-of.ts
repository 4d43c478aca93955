import type { Observation } from '../../event.ts';

/** What was recalled, as lists of it were sent: for a question all that was found, else what a message brought up. */
export function memoriesOf({ content, extras }: Observation<'recall'>): readonly string[] {
  if (extras.query !== undefined) return content === '' ? [] : [content];
  return extras.microagent_knowledge.map((item) => item.content);
}
