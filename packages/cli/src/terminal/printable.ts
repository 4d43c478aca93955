/* oxlint-disable no-control-regex -- control characters are what this is about */
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])|\u009b[0-?]*[ -/]*[@-~]/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text of a model or a command as it can be shown on a terminal: without escape sequences, which could retitle the window or write to the
 * clipboard, and without marks that turn the direction of writing. New lines and tabs stay.
 */
export function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(SEQUENCES, '').replaceAll(CONTROLS, '');
}
