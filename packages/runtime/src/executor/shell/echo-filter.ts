export interface EchoFilter {
  /** The terminal will repeat this line, if it echoes. */
  expect(text: string | undefined): void;
  strip(text: string): string;
}

const MAX_ECHO = 4096;

/**
 * Takes the echo of typed input out of the output that follows it: as far as the output agrees with it, from its first
 * character on. A program that does not echo (a password, a full-screen editor) loses nothing.
 */
export function createEchoFilter(): EchoFilter {
  let rest = '';
  return {
    expect(text) {
      rest = text === undefined || text.length > MAX_ECHO ? '' : `${text}\n`;
    },
    strip(text) {
      let count = 0;
      let agreed = 0;
      for (; count < text.length && agreed < rest.length; count += 1) {
        if (text[count] === rest[agreed]) agreed += 1;
        else if (text[count] !== '\r' || rest[agreed] !== '\n') break; // a terminal may end lines in either way
      }
      rest = count < text.length ? '' : rest.slice(agreed);
      return text.slice(count);
    },
  };
}
