/** At most `most` characters, the last one an ellipsis; never half a character. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.slice(0, most - 1);
  return `${/[\uD800-\uDBFF]$/.test(end) ? end.slice(0, -1) : end}…`;
}
