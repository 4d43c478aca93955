/** What clients of 0.62 get of a command's output at most, in UTF-16 units; the log has it all. */
export const MAX_WIRE_OUTPUT = 30_000;

const CUT = '\n[... Observation truncated due to length ...]\n';

/** The first and the last half of `max`, with a line between that says so. Never splits a surrogate pair. */
export function cutMiddle(text: string, max: number = MAX_WIRE_OUTPUT): string {
  if (text.length <= max) return text;
  const half = Math.floor(max / 2);
  return text.slice(0, boundary(text, half)) + CUT + text.slice(boundary(text, text.length - half));
}

function boundary(text: string, index: number): number {
  const isInsidePair = /[\uDC00-\uDFFF]/.test(text.charAt(index)) && /[\uD800-\uDBFF]/.test(text.charAt(index - 1));
  return isInsidePair ? index + 1 : index;
}
