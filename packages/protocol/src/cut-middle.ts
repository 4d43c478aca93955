/** The line that stands for what was cut out. */
const CUT = '\n[... Observation truncated due to length ...]\n';

export interface CutOptions {
  /** UTF-16 units; default 30,000, what 0.62 shows a client or a model of one observation. The log has it all. */
  readonly limit?: number;
  /** `beside`: the line that says so is not counted. Default: it is, so that a text is cut once however often it passes here. */
  readonly mark?: 'within' | 'beside';
}

/** A text over the limit as its beginning and its end. Never splits a surrogate pair. */
export function cutMiddle(text: string, { limit = 30_000, mark = 'within' }: CutOptions = {}): string {
  if (text.length <= limit) return text;
  const shown = mark === 'within' ? limit - CUT.length - 1 : limit;
  const half = Math.floor(shown / 2);
  return text.slice(0, boundary(text, half)) + CUT + text.slice(boundary(text, text.length - half));
}

function boundary(text: string, index: number): number {
  const isInsidePair = /[\uDC00-\uDFFF]/.test(text.charAt(index)) && /[\uD800-\uDBFF]/.test(text.charAt(index - 1));
  return isInsidePair ? index + 1 : index;
}
