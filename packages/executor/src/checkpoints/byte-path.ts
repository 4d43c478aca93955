/**
 * Names of files are bytes, which need not be text. Here they are strings with one character for each byte ("latin1"), so that every
 * name can be stored, compared and written back as it was.
 */

// eslint-disable-next-line no-control-regex
const BEYOND_ASCII = /[^\u0000-\u007F]/;

/** What `node:fs` takes for such a path. */
export function toSystem(path: string): string | Buffer {
  return BEYOND_ASCII.test(path) ? Buffer.from(path, 'latin1') : path;
}

/** A path of text as bytes. */
export function toBytes(path: string): string {
  return Buffer.from(path, 'utf8').toString('latin1');
}

/** For people; bytes that are no text become U+FFFD. */
export function toText(path: string): string {
  return Buffer.from(path, 'latin1').toString('utf8');
}
