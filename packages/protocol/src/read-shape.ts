/**
 * Reads JSON by a shape: what a schema of zod says of it, as plain data. A client of a few kilobytes reads events with it, and the server
 * with the same code. `kind-shapes.test.ts` holds that it takes, refuses and fills in what the schemas do.
 */
export type Shape =
  /** Text, anything that is made text, number, integer, boolean, anything. */
  | 's'
  | 't'
  | 'n'
  | 'i'
  | 'b'
  | 'u'
  /** One of these values. */
  | readonly ['e', ...(string | number | boolean | null)[]]
  | readonly ['|', ...Shape[]]
  | readonly ['[]', Shape]
  /** An object whose values have this shape. */
  | readonly ['{}', Shape]
  /** Other keys are retained where `true` follows. */
  | readonly ['o', Fields, true?]
  | readonly ['?', Shape]
  /** Also null. */
  | readonly ['0', Shape]
  /** What stands for nothing, given out as it is. */
  | readonly ['=', Shape, unknown]
  /** What stands for nothing, and is read like it. */
  | readonly ['?=', Shape, unknown]
  /** What stands for null. */
  | readonly ['0=', Shape, unknown]
  /** From and to, of a number or of a length; `true`: more than the first. */
  | Bounded;

type Bounded = readonly ['<', Shape, number, number, true?];

export type Fields = Readonly<Record<string, Shape>>;

/** What does not fit. */
const MISFIT = Symbol('misfit');

/** The object with its defaults filled in and its other keys retained; undefined where it does not fit. */
export function readFields(fields: Fields, value: unknown): Readonly<Record<string, unknown>> | undefined {
  const given = readObject(fields, true, value);
  return given === MISFIT ? undefined : (given as Readonly<Record<string, unknown>>);
}

function read(shape: Shape, value: unknown): unknown {
  if (typeof shape === 'string') return readSimple(shape, value);
  const [type, inner] = shape;
  switch (type) {
    case 'e':
      return shape.includes(value as string, 1) ? value : MISFIT;
    case '|':
      return shape.slice(1).reduce<unknown>((found, one) => (found === MISFIT ? read(one as Shape, value) : found), MISFIT);
    case '[]':
      return Array.isArray(value) ? allOf(value.map((one) => read(inner as Shape, one))) : MISFIT;
    case '{}':
      return readRecord(inner as Shape, value);
    case 'o':
      return readObject(inner as Fields, shape[2] === true, value);
    case '?':
      return value === undefined ? undefined : read(inner as Shape, value);
    case '0':
      return value === null ? null : read(inner as Shape, value);
    case '=':
      return value === undefined ? copyOf(shape[2]) : read(inner as Shape, value);
    case '?=':
      return read(inner as Shape, value === undefined ? shape[2] : value);
    case '0=':
      return read(inner as Shape, value === null ? shape[2] : value);
    case '<':
      return readWithin(shape as Bounded, value);
  }
}

function readSimple(shape: Shape & string, value: unknown): unknown {
  switch (shape) {
    case 's':
      return typeof value === 'string' ? value : MISFIT;
    case 't':
      return asText(value);
    case 'n':
      return Number.isFinite(value) ? value : MISFIT;
    case 'i':
      return Number.isSafeInteger(value) ? value : MISFIT;
    case 'b':
      return typeof value === 'boolean' ? value : MISFIT;
    case 'u':
      return value;
  }
}

function asText(value: unknown): unknown {
  try {
    return value === undefined ? MISFIT : String(value);
  } catch {
    // JSON can have a `toString` of its own.
    return MISFIT;
  }
}

function readWithin([, inner, from, to, isExclusive]: Bounded, value: unknown): unknown {
  const given = read(inner, value);
  if (given === MISFIT) return MISFIT;
  const size = typeof given === 'number' ? given : (given as string | readonly unknown[]).length;
  return (isExclusive ? size > from : size >= from) && size <= to ? given : MISFIT;
}

function readObject(fields: Fields, isLoose: boolean, value: unknown): unknown {
  if (!isObject(value)) return MISFIT;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    const given = read(fields[key]!, value[key]);
    if (given === MISFIT) return MISFIT;
    if (given !== undefined || key in value) result[key] = given;
  }
  if (isLoose) for (const key of Object.keys(value)) if (!Object.hasOwn(fields, key) && key !== '__proto__') result[key] = value[key];
  return result;
}

function readRecord(shape: Shape, value: unknown): unknown {
  if (!isObject(value)) return MISFIT;
  const entries = Object.keys(value).filter((key) => key !== '__proto__');
  const values = allOf(entries.map((key) => read(shape, value[key])));
  return values === MISFIT ? MISFIT : Object.fromEntries(entries.map((key, index) => [key, (values as readonly unknown[])[index]]));
}

function allOf(values: readonly unknown[]): unknown {
  return values.includes(MISFIT) ? MISFIT : values;
}

/** Of a default, which nobody may share: text, a number, or a list or object with nothing in it. */
function copyOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? structuredClone(value) : value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
