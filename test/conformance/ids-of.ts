/** The ids of a text like `EL2–EL4, D6`. */
export function idsOf(text: string): readonly string[] {
  return text.split(', ').flatMap((part) => {
    const [, letters = '', first = '', last = first] = /^([A-Z]+)(\d+)(?:–\1(\d+))?$/.exec(part) ?? [];
    if (letters === '') throw new Error(`"${part}" is no id and no range of them`);
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => `${letters}${Number(first) + index}`);
  });
}
