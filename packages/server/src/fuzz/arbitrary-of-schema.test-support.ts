import * as fc from 'fast-check';
import { hostileText, hostileValue } from './hostile-values.test-support.ts';

/** The parts of JSON Schema that the OpenAPI document uses. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
}

/** Values that nearly fit: each part is what the schema says, or hostile. */
export function arbitraryOf(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 5, arbitrary: fitting(schema) }, { weight: 1, arbitrary: hostileValue });
}

function fitting(schema: Schema): fc.Arbitrary<unknown> {
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choices?.length) return fc.oneof(...choices.map(arbitraryOf));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum?.length) return fc.constantFrom(...schema.enum);
  switch ([schema.type].flat()[0]) {
    case 'object':
      return objectOf(schema);
    case 'array':
      return fc.array(arbitraryOf(schema.items ?? {}), { maxLength: 4 });
    case 'string':
      return hostileText;
    case 'integer':
      return fc.oneof(fc.integer(), fc.constantFrom(0, 1, 100));
    case 'number':
      return fc.oneof(fc.double({ noNaN: true }), fc.integer());
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return hostileValue;
  }
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema): fc.Arbitrary<unknown> {
  const known = fc.record(Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, arbitraryOf(part)])), {
    requiredKeys: [...required].filter((name) => name in properties),
  });
  const extra = typeof additionalProperties === 'object' ? arbitraryOf(additionalProperties) : hostileValue;
  return fc.tuple(known, fc.dictionary(hostileText, extra, { maxKeys: 2 })).map(([some, more]) => ({ ...more, ...some }));
}
