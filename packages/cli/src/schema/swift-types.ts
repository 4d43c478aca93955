/**
 * Swift from JSON Schema: a struct for each object, an enum with an unknown case for each list of words, and one enum for all events. What
 * a server may leave out or send as null is optional; what has no type of its own is a `JSONValue`.
 */
import type { JsonSchema } from '@tendon/protocol';
import { eventText, structText, SWIFT_PRELUDE, wordsText } from './swift-text.ts';
import type { WireSchema } from './wire-schema.ts';

export function swiftFile({ $defs }: WireSchema): string {
  const declared = new Map<string, string>();
  // Enumerations come first: other places with the same words get their name.
  const inOrder = Object.entries($defs).toSorted(([, a], [, b]) => Number('enum' in b) - Number('enum' in a));
  for (const [name, schema] of inOrder) {
    const type = typeOf(schema, name, declared);
    if (type !== name) declared.set(name, `public typealias ${name} = ${type}`);
  }
  const kinds = Object.entries($defs).flatMap(([name, schema]) => {
    const { action, observation } = propertiesOf(schema);
    const kind = action?.const ?? observation?.const;
    return typeof kind === 'string'
      ? [{ name, kind, family: action?.const === undefined ? ('observation' as const) : ('action' as const) }]
      : [];
  });
  return `${[SWIFT_PRELUDE, ...declared.values(), eventText(kinds)].join('\n\n')}\n`;
}

type Declared = Map<string, string>;

const propertiesOf = (schema: JsonSchema) => (schema.properties ?? {}) as Readonly<Record<string, JsonSchema | undefined>>;

/** The type's name; declares what it needs, under names that begin with `name`. */
function typeOf(schema: JsonSchema, name: string, declared: Declared): string {
  if (typeof schema.$ref === 'string') return schema.$ref.replace('#/$defs/', '');
  const options = (schema.anyOf ?? schema.oneOf) as readonly JsonSchema[] | undefined;
  if (options) return unionOf(options, name, declared);
  if (Array.isArray(schema.type))
    return unionOf(
      (schema.type as string[]).map((type) => ({ ...schema, type })),
      name,
      declared,
    );
  const words = (schema.enum ?? (schema.const === undefined ? undefined : [schema.const])) as readonly unknown[] | undefined;
  if (words) return wordsOf(words, name, declared);
  switch (schema.type) {
    case 'string':
      return schema.format === 'date-time' || name.endsWith('At') ? 'Timestamp' : 'String';
    case 'integer':
      return 'Int';
    case 'number':
      return 'Double';
    case 'boolean':
      return 'Bool';
    case 'array':
      return `[${typeOf((schema.items ?? {}) as JsonSchema, `${name}Item`, declared)}]`;
    case 'object':
      return objectOf(schema, name, declared);
    default:
      return 'JSONValue';
  }
}

function unionOf(options: readonly JsonSchema[], name: string, declared: Declared): string {
  const others = options.filter(({ type }) => type !== 'null');
  const type = oneTypeOf(others, name, declared);
  return others.length < options.length ? `${type}?` : type;
}

function oneTypeOf(options: readonly JsonSchema[], name: string, declared: Declared): string {
  if (options.length === 1) return typeOf(options[0]!, name, declared);
  const words = options.map((option) => option.enum ?? (option.const === undefined ? undefined : [option.const]));
  if (words.every((some) => some !== undefined)) return wordsOf(words.flat(), name, declared);
  if (options.every(({ type, properties }) => type === 'object' && properties !== undefined))
    return typeOf(merged(options), name, declared);
  const simple = new Set(options.map(({ type }) => type));
  return simple.size === 1 && ['string', 'integer', 'number'].includes(String(options[0]?.type))
    ? typeOf(options[0]!, name, declared)
    : 'JSONValue';
}

/** The keys of all of them; a key is required if all require it. */
function merged(options: readonly JsonSchema[]): JsonSchema {
  const keys = [...new Set(options.flatMap((option) => Object.keys(propertiesOf(option))))];
  const required = keys.filter((key) => options.every((option) => ((option.required ?? []) as string[]).includes(key)));
  const property = (key: string): JsonSchema => {
    const some = options.map((option) => propertiesOf(option)[key]).filter((one) => one !== undefined);
    return new Set(some.map((one) => JSON.stringify(one))).size === 1 ? some[0]! : { anyOf: some };
  };
  return { type: 'object', required, properties: Object.fromEntries(keys.map((key) => [key, property(key)])) };
}

function wordsOf(words: readonly unknown[], name: string, declared: Declared): string {
  if (words.every((word) => Number.isInteger(word))) return 'Int';
  if (words.every((word) => typeof word === 'boolean')) return 'Bool';
  if (!words.every((word) => typeof word === 'string')) return 'JSONValue';
  // A value that can only be one word is a plain string.
  if (words.length === 1) return 'String';
  const text = (of: string) => wordsText(of, [...new Set(words as readonly string[])]);
  const known = [...declared].find(([of, declaration]) => declaration === text(of));
  if (known) return known[0];
  declared.set(name, text(name));
  return name;
}

function objectOf(schema: JsonSchema, name: string, declared: Declared): string {
  const properties = Object.entries(propertiesOf(schema));
  if (properties.length === 0) {
    const values = schema.additionalProperties;
    return typeof values === 'object' && values !== null
      ? `[String: ${typeOf(values as JsonSchema, `${name}Value`, declared)}]`
      : '[String: JSONValue]';
  }
  const required = new Set((schema.required ?? []) as string[]);
  // Declared before what it needs: a reader starts with the outer type.
  declared.set(name, '');
  const fields = properties.map(([key, property = {}]) => {
    const type = typeOf(property, name + pascal(key), declared);
    return { key, type: required.has(key) || type.endsWith('?') ? type : `${type}?` };
  });
  declared.set(name, structText(name, fields));
  return name;
}

function pascal(key: string): string {
  return key.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}
