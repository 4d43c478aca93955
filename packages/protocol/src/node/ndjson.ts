import { StringDecoder } from 'node:string_decoder';

/** A line, or the sum of all, was longer than allowed. */
export class TooMuch extends Error {
  override name = 'TooMuch';
}

export interface NdjsonLimits {
  /** Characters. */
  readonly maxLine: number;
  readonly maxTotal: number;
}

/** Lines of a byte stream as they come, without their newline; a last line without one counts. Throws `TooMuch`. */
export async function* readLines(stream: AsyncIterable<Buffer>, limits: NdjsonLimits): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let pending: string[] = [];
  let pendingLength = 0;
  let total = 0;
  for await (const chunk of stream) {
    const text = decoder.write(chunk);
    total += text.length;
    if (total > limits.maxTotal) throw new TooMuch(`more than ${limits.maxTotal} characters`);
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      yield pending.join('') + text.slice(start, end);
      pending = [];
      pendingLength = 0;
      start = end + 1;
    }
    if (start === text.length) continue;
    pending.push(text.slice(start));
    pendingLength += text.length - start;
    if (pendingLength > limits.maxLine) throw new TooMuch(`a line of more than ${limits.maxLine} characters`);
  }
  if (pendingLength > 0) yield pending.join('');
}
