/**
 * Names of files are bytes, which need not be text. Here they are strings with one character for each byte ("latin1"), so that every
 * name can be stored, compared and written back as it was.
 */

/** What `node:fs` takes for such a path. */
export function toSystem(path: string): string | Buffer {
  // eslint-disable-next-line no-control-regex
  return /^[\u0000-\u007F]*$/.test(path) ? path : Buffer.from(path, 'latin1');
}

/** A path of text as bytes. */
export function toBytes(path: string): string {
  return Buffer.from(path, 'utf8').toString('latin1');
}

/** For people; bytes that are no text become U+FFFD. */
export function toText(path: string): string {
  return Buffer.from(path, 'latin1').toString('utf8');
}
