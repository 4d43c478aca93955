/** What a secret can look like once a command has printed it. */
export interface Spellings {
  /** To be found as they are. */
  readonly exact: readonly string[];
  /** To be found also with line breaks in between: `base64` and `xxd` wrap their lines. */
  readonly wrapped: readonly string[];
}

/**
 * As it is, as JSON inside JSON, quoted as shells, Python and HTML do, in URLs (as JavaScript, Python and curl write them), and in base64 and hexadecimal digits, where
 * it may stand in the middle of something longer.
 */
export function spellingsOf(value: string): Spellings {
  const bytes = new TextEncoder().encode(value);
  const once = escaped(value);
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return {
    exact: distinct([value, once, escaped(once), ...quotedForShell(value), ...forMarkup(value), ...urlEncoded(value, bytes)]),
    wrapped: distinct([...[0, 1, 2].flatMap((before) => base64Within(bytes, before)), hex, hex.toUpperCase()]),
  };
}

function escaped(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

/** As `set -x`, `printf %q`, `$'…'` and Python's `repr` show it. */
function quotedForShell(value: string): readonly string[] {
  const inSingle = value.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
  return [
    value.replaceAll("'", "'\\''"),
    value.replaceAll("'", "'\"'\"'"),
    value.replace(/[^\w@%+=:,./\u0080-\uffff-]/g, '\\$&'),
    inSingle.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t'),
    inSingle.replaceAll("\\'", "'").replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t'),
  ];
}

function forMarkup(value: string): readonly string[] {
  const basic = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = basic.replaceAll('"', '&quot;');
  return [basic, quoted, quoted.replaceAll("'", '&#x27;'), quoted.replaceAll("'", '&#39;')];
}

function urlEncoded(value: string, bytes: Uint8Array): readonly string[] {
  const except = (literal: RegExp, space = '%20'): string =>
    [...bytes].map((byte) => (byte === 0x20 ? space : percent(byte, literal))).join('');
  const usual = value.isWellFormed() ? encodeURIComponent(value) : value;
  const forms = [usual, except(/[\w.~-]/), except(/[\w.~/-]/), except(/[\w.~-]/, '+'), except(/[\w.*-]/, '+')];
  return forms.flatMap((form) => [form, form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]);
}

function percent(byte: number, literal: RegExp): string {
  const character = String.fromCharCode(byte);
  return byte < 0x80 && literal.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
}

/** The characters that are the same whatever stands around the secret, which begins `before` bytes after a group of three. */
function base64Within(bytes: Uint8Array, before: number): readonly string[] {
  const shifted = new Uint8Array(before + bytes.length);
  shifted.set(bytes, before);
  let binary = '';
  for (const byte of shifted) binary += String.fromCharCode(byte);
  const text = btoa(binary).slice(Math.ceil((before * 4) / 3), Math.floor((shifted.length * 4) / 3));
  return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
