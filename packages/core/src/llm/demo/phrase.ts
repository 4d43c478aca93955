/** Reading names and texts out of a plain sentence. */

/** A name in a pattern: quoted, or one word. */
export const NAME = String.raw`(?:"[^"\n]+"|'[^'\n]+'|\`[^\`\n]+\`|[^\s"'\`]+)`;

const QUOTES: Readonly<Record<string, string>> = { '"': '"', "'": "'", '`': '`', '“': '”', '‘': '’', '«': '»' };

/** The text inside matching quotes; without quotes the text less the sentence's own full stop. */
export function unquoted(text: string): string {
  const trimmed = text.trim();
  const bare = trimmed.replace(/\.$/, '');
  for (const candidate of [trimmed, bare]) {
    const close = QUOTES[candidate[0] ?? ''];
    if (close && candidate.length > 1 && candidate.endsWith(close) && !candidate.slice(1, -1).includes(close))
      return candidate.slice(1, -1);
  }
  return bare;
}

export const WORKSPACE = '/workspace';

/** The absolute path of a name in the workspace; undefined when it leads out of it or cannot be a file name. */
export function workspacePath(name: string): string | undefined {
  const plain = unquoted(name).replace(/[,;:!?]+$/, '');
  if (plain === '' || /[\p{Cc}]/u.test(plain)) return undefined;
  const parts: string[] = [];
  for (const part of (plain.startsWith('/') ? plain : `${WORKSPACE}/${plain}`).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  const path = `/${parts.join('/')}`;
  return path === WORKSPACE || path.startsWith(`${WORKSPACE}/`) ? path : undefined;
}

/** A short file name made of a text: `hello world` → `hello-world`. */
export function slug(text: string, otherwise: string): string {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.join('-').slice(0, 24).replace(/-+$/, '') || otherwise;
}
