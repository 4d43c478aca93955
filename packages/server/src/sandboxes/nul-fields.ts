/** At most so many of the fields that a program in a sandbox ended with NUL; what follows the last NUL was cut. */
export function nulFields(text: string, max: number): { readonly fields: readonly string[]; readonly isCut: boolean } {
  const fields: string[] = [];
  let from = 0;
  for (let end = text.indexOf('\0'); end >= 0; end = text.indexOf('\0', from)) {
    if (fields.length === max) return { fields, isCut: true };
    fields.push(text.slice(from, end));
    from = end + 1;
  }
  return { fields, isCut: false };
}
