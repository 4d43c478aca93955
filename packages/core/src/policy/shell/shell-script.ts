/** What a command line holds: every simple command that may run, in the order of the text, however deep it stands. */

/** `pattern`: expands to names that begin with `text` up to its first `*`, `?` or `[`. `unknown`: known only when it runs. */
export interface Word {
  readonly text: string;
  readonly known: 'literal' | 'pattern' | 'unknown';
  /** Some of it was quoted, so it is no reserved word. */
  readonly isQuoted: boolean;
  /** As it is written. */
  readonly raw: string;
}

export interface Redirect {
  readonly operator: string;
  /** A file, or the number or `-` of `>&` and `<&`; of a heredoc and a here-string the text is not a file. */
  readonly target: Word;
}

export interface Assignment {
  readonly name: string;
  readonly value: Word;
}

/** Without words: assignments and redirections alone, which also stand for those of a compound command. */
export interface ShellCommand {
  readonly assignments: readonly Assignment[];
  readonly words: readonly Word[];
  readonly redirects: readonly Redirect[];
}

export interface ShellScript {
  readonly commands: readonly ShellCommand[];
  /** What the text alone does not settle, each in words; a line with doubts cannot be allowed. */
  readonly doubts: readonly string[];
  /** A part of it may run more than once: the folder of a command does not follow from its place. */
  readonly repeats: boolean;
}

export type ParsedShell = { readonly ok: true; readonly script: ShellScript } | { readonly ok: false; readonly reason: string };

export const UNKNOWN_WORD: Word = { text: '', known: 'unknown', isQuoted: false, raw: '' };

export function literal(text: string): Word {
  return { text, known: 'literal', isQuoted: true, raw: text };
}
