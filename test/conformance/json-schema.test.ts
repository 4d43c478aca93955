import { describe, expect, it } from 'vitest';
import { ACTIONS, eventsJsonSchema, OBSERVATIONS, openhandsV0, type JsonSchema } from '@tendon/protocol';
import { EVERY_KIND } from './every-kind.ts';
import { fits } from './fits-schema.ts';

const SCHEMA = eventsJsonSchema();
const DEFS = SCHEMA.$defs as Readonly<Record<string, JsonSchema>>;
const accepts = (schema: JsonSchema, value: unknown): boolean => fits(schema, value, DEFS);

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
