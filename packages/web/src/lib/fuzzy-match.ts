/** Whether the letters of `typed` stand in `text` in this order; case and spaces do not count. */
export function fuzzyMatches(typed: string, text: string): boolean {
  const wanted = typed.toLowerCase().replaceAll(/\s/g, '');
  let at = 0;
  for (const letter of text.toLowerCase()) if (letter === wanted[at]) at += 1;
  return at >= wanted.length;
}
