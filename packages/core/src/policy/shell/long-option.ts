/** Whether the text is a long option that a program could take for one of the names: most take the beginning of a name for the whole. */
export function isBeginningOf(text: string, names: string): boolean {
  const given = /^--([A-Za-z][\w-]*)/.exec(text)?.[1];
  return given !== undefined && names.split(' ').some((name) => name.startsWith(given));
}
