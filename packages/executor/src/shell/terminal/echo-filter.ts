export interface EchoFilter {
  /** The terminal will repeat this line, if it echoes. */
  expect(text: string | undefined): void;
  strip(output: Buffer): Buffer;
}

const MAX_ECHO = 4096;
const NOTHING = Buffer.alloc(0);
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;

/**
 * Takes the echo of typed input out of the output that follows it: as far as the output agrees with it, from its first
 * byte on. A program that does not echo (a password, a full-screen editor) loses nothing.
 */
export function createEchoFilter(): EchoFilter {
  let rest: Buffer = NOTHING;
  return {
    expect(text) {
      rest = text === undefined || text.length > MAX_ECHO ? NOTHING : Buffer.from(`${text}\n`);
    },
    strip(output) {
      if (rest.length === 0) return output;
      let count = 0;
      let agreed = 0;
      for (; count < output.length && agreed < rest.length; count += 1) {
        if (output[count] === rest[agreed]) agreed += 1;
        else if (output[count] !== CARRIAGE_RETURN || rest[agreed] !== LINE_FEED) break; // a terminal may end lines in either way
      }
      rest = count < output.length ? NOTHING : rest.subarray(agreed);
      return output.subarray(count);
    },
  };
}
