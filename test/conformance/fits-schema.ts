import type { JsonSchema } from '@tendon/protocol';

/** Just the words of JSON Schema that the document uses. */
export function fits(schema: JsonSchema, value: unknown, defs: Readonly<Record<string, JsonSchema>>): boolean {
  const accepts = (inner: JsonSchema, one: unknown): boolean => fits(inner, one, defs);
  if (typeof schema.$ref === 'string') return accepts(defs[schema.$ref.replace('#/$defs/', '')]!, value);
  if (schema.anyOf && !(schema.anyOf as JsonSchema[]).some((option) => accepts(option, value))) return false;
  if (schema.not && accepts(schema.not as JsonSchema, value)) return false;
  if ('const' in schema && schema.const !== value) return false;
  if (schema.enum && !(schema.enum as unknown[]).includes(value)) return false;
  if (schema.type && ![schema.type].flat().some((type) => hasType(type as string, value))) return false;
  if (Array.isArray(value)) return value.every((item) => accepts((schema.items ?? {}) as JsonSchema, item));
  if (typeof value !== 'object' || value === null) return true;
  const object = value as Readonly<Record<string, unknown>>;
  return (
    ((schema.required ?? []) as string[]).every((key) => key in object) &&
    Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>).every(
      ([key, inner]) => !(key in object) || object[key] === undefined || accepts(inner, object[key]),
    )
  );
}

function hasType(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'null') return value === null;
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}
