const MAX_BYTES = 16 * 1024;
const MAX_CHARS = 500;

/** Why a provider did not do what it was asked, in its own words: one bounded line, or nothing when it gave none that can be read. */
export async function providerWords(response: Response): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    parts.push(part);
    // What is that long is no explanation; leaving the loop ends the answer.
    if ((size += part.byteLength) > MAX_BYTES) return undefined;
  }
  try {
    const texts = [...new Set(textsIn(JSON.parse(Buffer.concat(parts).toString('utf8'))))];
    const line = texts
      .join('; ')
      .replaceAll(/[\p{Cc}\s]+/gu, ' ')
      .trim();
    return line === '' ? undefined : line.slice(0, MAX_CHARS);
  } catch {
    return undefined;
  }
}

/** `{message, errors: [{message}]}` of GitHub, `{message: [text]}` or `{message: {field: [text]}}` of GitLab, `{error: {message}}` of Bitbucket. */
function textsIn(value: unknown, depth = 0): readonly string[] {
  if (typeof value === 'string') return depth > 0 ? [value] : [];
  if (typeof value !== 'object' || value === null || depth > 4) return [];
  if (Array.isArray(value)) return value.slice(0, 20).flatMap((each) => textsIn(each, depth + 1));
  const { message, errors, error, detail, fields } = value as Readonly<Record<string, unknown>>;
  const known = [message, errors, error, detail, fields].filter((each) => each !== undefined);
  // A field's name says more than its trouble alone.
  if (known.length === 0 && depth > 0)
    return Object.entries(value)
      .slice(0, 20)
      .flatMap(([name, each]) => textsIn(each, depth + 1).map((text) => `${name}: ${text}`));
  return known.flatMap((each) => textsIn(each, depth + 1));
}
