import type { ObservationDraft } from '@tendon/protocol';
import { comparableText } from './comparable-text.ts';

export interface Difference {
  readonly what: 'kind' | 'exit code' | 'content';
  readonly recorded: string;
  readonly replayed: string;
}

/** What is not as it was, the gravest first. `workspace`: where it is in the sandbox. */
export function differenceOf(recorded: ObservationDraft, replayed: ObservationDraft, workspace: string): Difference | undefined {
  if (recorded.observation !== replayed.observation)
    return { what: 'kind', recorded: shown(recorded, recorded.observation), replayed: shown(replayed, replayed.observation) };
  const codes = [exitCode(recorded), exitCode(replayed)] as const;
  if (codes[0] !== undefined && codes[0] !== codes[1])
    return { what: 'exit code', recorded: shown(recorded, codes[0]), replayed: shown(replayed, String(codes[1])) };
  if (comparableText(recorded.content, workspace) === comparableText(replayed.content, workspace)) return undefined;
  return { what: 'content', recorded: recorded.content, replayed: replayed.content };
}

/** The value and what was said with it: an exit code alone explains nothing. */
function shown({ content }: ObservationDraft, value: string): string {
  return content === '' ? value : `${value}\n${content}`;
}

function exitCode({ extras }: ObservationDraft): string | undefined {
  const { metadata, exit_code } = extras as { readonly metadata?: { readonly exit_code?: number }; readonly exit_code?: number };
  const code = metadata?.exit_code ?? exit_code;
  return code === undefined ? undefined : String(code);
}
