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
      rest = text === undefined || text.length > MAX_ECHO ? '' : `${text.replaceAll('\n', '\r\n')}\r\n`;
    },
    strip(text) {
      let count = 0;
      while (count < text.length && count < rest.length && text[count] === rest[count]) count += 1;
      const differs = count < text.length && count < rest.length;
      rest = differs ? '' : rest.slice(count);
      return text.slice(count);
    },
  };
}
