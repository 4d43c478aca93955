/** Names and values in the order of the header. */
export function cookiesIn(header: string | undefined): readonly (readonly [string, string])[] {
  return (header ?? '').split(';').flatMap((part) => {
    const at = part.indexOf('=');
    return at < 0 ? [] : [[part.slice(0, at).trim(), part.slice(at + 1).trim()] as const];
  });
}
