/* oxlint-disable no-control-regex -- control characters are what this is about */
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])|\u009b[0-?]*[ -/]*[@-~]/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Characters that a terminal acts upon or does not show. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u3164\uffa0]/gu;

/**
 * Text of a model or a command as it can be shown on a terminal: without escape sequences, which could retitle the window or write to the
 * clipboard, and without marks that turn the direction of writing. New lines and tabs stay.
 */
export function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(SEQUENCES, '').replaceAll(CONTROLS, '');
}

/** Text for a decision: nothing of it is left out, and invisible characters are spelled out: `⟨U+001B⟩`. New lines and tabs stay. */
export function spelled(text: string): string {
  return text.replaceAll(UNSEEN, (char) => (char === '\n' || char === '\t' ? char : codePointOf(char)));
}

/** The same in one line. */
export function spelledLine(text: string): string {
  return spelled(text).replaceAll('\n', codePointOf);
}

function codePointOf(char: string): string {
  return `⟨U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}
