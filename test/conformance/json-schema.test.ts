import { describe, expect, it } from 'vitest';
import { ACTIONS, eventsJsonSchema, OBSERVATIONS, openhandsV0, type JsonSchema } from '@tendon/protocol';
import { EVERY_KIND } from './every-kind.ts';

const SCHEMA = eventsJsonSchema();
const DEFS = SCHEMA.$defs as Readonly<Record<string, JsonSchema>>;

/** Just the words of JSON Schema that the document uses. */
function accepts(schema: JsonSchema, value: unknown): boolean {
  if (typeof schema.$ref === 'string') return accepts(DEFS[schema.$ref.replace('#/$defs/', '')]!, value);
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

describe('the JSON Schema of events', () => {
  it('DL30: has a definition for every kind, and is plain JSON', () => {
    const kinds = Object.values(DEFS).flatMap((def) => {
      const { action, observation } = (def.properties ?? {}) as { action?: JsonSchema; observation?: JsonSchema };
      return [action?.const ?? observation?.const].filter(Boolean);
    });
    expect(kinds.toSorted()).toEqual([...Object.keys(ACTIONS), ...Object.keys(OBSERVATIONS)].toSorted());
    expect(JSON.parse(JSON.stringify(SCHEMA))).toEqual(SCHEMA);
  });

  it('DL30: every reference resolves', () => {
    const references = [...JSON.stringify(SCHEMA).matchAll(/"\$ref":"#\/\$defs\/([^"]+)"/g)].map((match) => match[1]!);
    expect(references.filter((name) => !(name in DEFS))).toEqual([]);
  });

  it('DL30: accepts every frame of openhands-v0', () => {
    const frames = EVERY_KIND.flatMap((event) => openhandsV0.encode(event, 'live'));
    expect(frames.filter((frame) => !accepts(SCHEMA, frame))).toEqual([]);
  });

  it.each([
    [{ id: 1, timestamp: 't', source: 'agent', message: '', action: 'run', args: { command: 3 } }],
    [{ id: 1, timestamp: 't', source: 'agent', message: '', observation: 'run', content: 4, extras: {} }],
    [{ id: 1, timestamp: 't', source: 'somebody', action: 'levitate' }],
    [{ timestamp: 't', source: 'agent', action: 'levitate' }],
  ])('DL30: refuses what is not an event (%j)', (frame) => expect(accepts(SCHEMA, frame)).toBe(false));
});
