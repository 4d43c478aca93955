const BLOCK = 512;
const REGULAR = new Set(['0', '\0']);

/** The first regular file of a tar archive, as text; `undefined` when it holds none. */
export function firstFileOf(archive: Buffer): string | undefined {
  for (let at = 0; at + BLOCK <= archive.length;) {
    const header = archive.subarray(at, at + BLOCK);
    const size = Number.parseInt(header.toString('latin1', 124, 136), 8) || 0;
    const begin = at + BLOCK;
    if (header[0] !== 0 && REGULAR.has(String.fromCharCode(header[156] ?? 0))) return archive.toString('utf8', begin, begin + size);
    at = begin + Math.ceil(size / BLOCK) * BLOCK;
  }
  return undefined;
}
