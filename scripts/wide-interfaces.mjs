// Interfaces with more members than one can hold in mind. A record of data (a row of a table, the options of a command, a frame of the wire) has
// as many fields as there are facts, and is read one field at a time: it is exempt. An interface is data when nothing that it names acts: no
// function, no class but those of values, nothing of Node's that waits or streams, in itself or in any type of ours that it mentions.

/** Classes that are values. */
const VALUES = new Set(['Secret']);
/** Of Node and of the web: what acts, as far as our interfaces mention it. */
const ACTS = new Set(
  'AbortSignal Promise Socket Server Duplex Readable Writable ChildProcess FastifyInstance AsyncIterable AsyncGenerator ReadableStream'.split(
    ' ',
  ),
);
const FUNCTION = /=>|\w\??\([^)]*\):|\w\??<[^>]*>\(/;

/** `texts`: source by its path. Those with more than `max` members of their own that are not data: `{ size, file, name }`. */
export function wideInterfaces(texts, max) {
  const perFile = new Map([...texts].map(([file, text]) => [file, declarationsOf(text)]));
  const everywhere = new Map([...perFile.values()].flatMap((own) => [...own]));
  const known = new Map();
  const acts = (name, file, asked = new Set()) => {
    if (ACTS.has(name)) return true;
    const found = perFile.get(file).get(name) ?? everywhere.get(name);
    if (!found || VALUES.has(name) || asked.has(found)) return false;
    asked.add(found);
    if (!known.has(found))
      known.set(
        found,
        found.isClass ||
          FUNCTION.test(found.text) ||
          [...found.text.matchAll(/\b[A-Z]\w*/g)].some(([mentioned]) => acts(mentioned, file, asked)),
      );
    return known.get(found);
  };
  return [...perFile].flatMap(([file, own]) =>
    [...own].filter(([name, { size }]) => size > max && acts(name, file)).map(([name, { size }]) => ({ size, file, name })),
  );
}

/** The formatter puts each member at the same depth: its lines are counted. Comments and literal strings are left out. */
function declarationsOf(source) {
  const text = source
    .replace(/\/\*[^]*?\*\//g, '')
    .replace(/'[^'\n]*'/g, "''")
    .replace(/\/\/.*$/gm, '');
  const found = new Map();
  for (const [, name, body] of text.matchAll(/^(?:export )?type (\w+)[^=]*= ([^]*?);$/gm)) found.set(name, { size: 0, text: body });
  for (const [, name] of text.matchAll(/^(?:export )?(?:abstract )?class (\w+)/gm)) found.set(name, { size: 0, isClass: true });
  for (const [, name, parents, body] of text.matchAll(/^(?:export )?interface (\w+)([^{]*)\{\n([^]*?)\n\}/gm)) {
    const size = body.split('\n').filter((line) => /^ {2}[^\s})\]]/.test(line)).length;
    found.set(name, { size, text: parents + body });
  }
  return found;
}
