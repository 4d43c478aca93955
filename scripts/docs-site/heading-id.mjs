/** The anchor of a heading, as Git hosts make it; `taken` counts those of the page, so that a second one of the same words has a number. */
export function headingId(text, taken = new Map()) {
  const id = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
  const before = taken.get(id) ?? 0;
  taken.set(id, before + 1);
  return before === 0 ? id : `${id}-${before}`;
}

/** Of a Markdown text, without what stands in its code. */
export function headingIds(markdown) {
  const taken = new Map();
  return markdown
    .replace(/^```.*?^```/gms, '')
    .split('\n')
    .flatMap((line) => /^#{1,6} (.*)/.exec(line)?.[1] ?? [])
    .map((heading) => headingId(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'), taken));
}
