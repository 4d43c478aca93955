import * as protocol from '@tendon/protocol';
import type { JsonSchema } from '@tendon/protocol';
import { z } from 'zod';

export interface WireSchema {
  readonly $schema: string;
  readonly $id: string;
  readonly anyOf: readonly JsonSchema[];
  readonly $defs: Readonly<Record<string, JsonSchema>>;
}

const at = (name: string) => `#/$defs/${name}`;

/** Events, then the REST bodies by the names that the protocol gives them. */
export function wireSchema(): WireSchema {
  const events = protocol.eventsJsonSchema('any server') as unknown as WireSchema;
  return { ...events, $id: 'urn:tendon:wire', $defs: { ...restDefinitions(), ...events.$defs } };
}

function restDefinitions(): Readonly<Record<string, JsonSchema>> {
  const registry = z.registry<{ id: string }>();
  const named = Object.entries(protocol as Readonly<Record<string, unknown>>).flatMap(([id, value]) =>
    value instanceof z.ZodType ? [{ id, schema: value }] : [],
  );
  // A schema with two names gets the first.
  for (const { id, schema } of named) if (!registry.has(schema)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { uri: at, io: 'input', unrepresentable: 'any' });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _draft, $id: _id, ...schema }]) => [name, schema as unknown as JsonSchema]),
  );
}
