import { anything, assert, constant, constantFrom, dictionary, integer, oneof, property, string, type Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { ACTIONS, OBSERVATIONS } from './kinds.ts';
import { ACTION_FIELDS, OBSERVATION_FIELDS } from './kind-shapes.ts';
import { readFields, type Fields, type Shape } from './read-shape.ts';

type Definition = { readonly [key: string]: unknown; readonly type: string };

const definitionOf = (schema: unknown): Definition => (schema as { readonly _zod: { readonly def: Definition } })._zod.def;

/** Of each schema that the kinds use; any other is to be added here, and to `read-shape.ts`. */
function shapeOf(schema: unknown): Shape {
  const def = definitionOf(schema);
  const inner = () => shapeOf(def.innerType);
  switch (def.type) {
    case 'string':
      return withBounds(def, def.coerce ? 't' : 's');
    case 'number':
      return withBounds(def, ((def.checks ?? []) as unknown[]).some((check) => definitionOf(check).check === 'number_format') ? 'i' : 'n');
    case 'boolean':
      return 'b';
    case 'unknown':
      return 'u';
    case 'enum':
      return ['e', ...(Object.values(def.entries as object) as string[])];
    case 'literal':
      return ['e', ...(def.values as string[])];
    case 'union':
      return ['|', ...(def.options as unknown[]).map(shapeOf)];
    case 'array':
      return withBounds(def, ['[]', shapeOf(def.element)]);
    case 'record':
      return ['{}', shapeOf(def.valueType)];
    case 'object':
      return def.catchall ? ['o', fieldsOf(def), true] : ['o', fieldsOf(def)];
    case 'optional':
      return ['?', inner()];
    case 'nullable':
      return ['0', inner()];
    case 'default':
      return ['=', inner(), def.defaultValue];
    case 'prefault':
      return ['?=', inner(), def.defaultValue];
    case 'pipe':
      return ['0=', shapeOf(def.out), (definitionOf(def.in).transform as (value: null) => unknown)(null)];
    default:
      throw new Error(`no shape for ${def.type}`);
  }
}

const fieldsOf = ({ shape }: Definition): Fields =>
  Object.fromEntries(Object.entries(shape as object).map(([key, schema]) => [key, shapeOf(schema)]));

function withBounds(def: Definition, shape: Shape): Shape {
  let [from, to, isExclusive] = [-Number.MAX_VALUE, Number.MAX_VALUE, false];
  for (const check of ((def.checks ?? []) as unknown[]).map(definitionOf)) {
    if (check.check === 'greater_than') [from, isExclusive] = [check.value as number, !check.inclusive];
    else if (check.check === 'min_length') from = check.minimum as number;
    else if (check.check === 'max_length') to = check.maximum as number;
    else if (check.check !== 'number_format') throw new Error(`no shape for the check ${String(check.check)}`);
  }
  if (from === -Number.MAX_VALUE && to === Number.MAX_VALUE) return shape;
  return isExclusive ? ['<', shape, from, to, true] : ['<', shape, from, to];
}

const SCHEMAS = [
  ...Object.entries(ACTIONS).map(([kind, { args }]) => ({
    name: `action ${kind}`,
    schema: args as z.ZodType,
    kind,
    fields: ACTION_FIELDS,
  })),
  ...Object.entries(OBSERVATIONS).map(([kind, { extras }]) => ({
    ...{ name: `observation ${kind}`, schema: extras as z.ZodType, kind, fields: OBSERVATION_FIELDS },
  })),
];

const written = (name: string, kinds: Readonly<Record<string, z.ZodType>>): string =>
  `export const ${name} = {\n${Object.entries(kinds)
    .map(([kind, schema]) => `  ${kind}: ${JSON.stringify(fieldsOf(definitionOf(schema)))},\n`)
    .join('')}} as const satisfies Record<string, Fields>;\n`;

/** What JSON can say and a program rarely does. */
const HOSTILE = [
  ...[
    '{"__proto__":{"a":1},"constructor":1,"toString":2}',
    '[{"__proto__":[1]}]',
    '{"toString":1,"valueOf":{}}',
    '{"hasOwnProperty":null}',
  ],
  ...['1e999', '-1e999', '1e308', '9007199254740991', '9007199254740992', '2e15', '-2e15', '-0', '0.5', '"\\ud800"', 'null', '[]', 'true'],
].map((text) => JSON.parse(text) as unknown);

/** JSON that fits a shape mostly. */
function near(shape: Shape): Arbitrary<unknown> {
  const any = () =>
    oneof(
      { weight: 12, arbitrary: fitting(shape) },
      { weight: 1, arbitrary: anything({ withNullPrototype: false }) },
      { weight: 1, arbitrary: constantFrom(...HOSTILE) },
    );
  const isJson = (value: unknown) => HOSTILE.includes(value) || value === undefined;
  return any().map((value) => (isJson(value) ? value : (JSON.parse(JSON.stringify(value) ?? 'null') as unknown)));
}

function fitting(shape: Shape): Arbitrary<unknown> {
  if (typeof shape === 'string')
    return { s: string(), t: oneof(string(), integer()), n: integer(), i: integer(), b: constant(true), u: anything() }[shape];
  switch (shape[0]) {
    case 'e':
      return oneof(...shape.slice(1).map((value) => constant(value)));
    case '|':
      return oneof(...(shape.slice(1) as Shape[]).map(near));
    case '[]':
      return near(shape[1]).map((value) => [value]);
    case '{}':
      return dictionary(oneof(string(), constant('__proto__')), near(shape[1]), { maxKeys: 3 });
    case 'o':
      return object(shape[1]);
    case '?':
    case '=':
    case '?=':
      return oneof(constant(undefined), near(shape[1]));
    case '0':
    case '0=':
      return oneof(constant(null), near(shape[1]));
    case '<':
      return oneof(near(shape[1]), constant(shape[2]), constant(shape[3]));
  }
}

function object(fields: Fields): Arbitrary<unknown> {
  const known = Object.entries(fields).map(([key, shape]) => near(shape).map((value) => (value === undefined ? {} : { [key]: value })));
  const others = dictionary(string({ minLength: 3 }), anything(), { maxKeys: 1 });
  return known.reduce((all, one) => all.chain((before) => one.map((more) => ({ ...before, ...more }))), others as Arbitrary<object>);
}

describe('the shapes of the kinds', () => {
  it('CK960: are what the definitions say', async () => {
    const actions = Object.fromEntries(Object.entries(ACTIONS).map(([kind, { args }]) => [kind, args]));
    const observations = Object.fromEntries(Object.entries(OBSERVATIONS).map(([kind, { extras }]) => [kind, extras]));
    const text = `/** The arguments and extras of every kind, made from the definitions: vitest run -u --project quick kind-shapes. */
import type { Fields } from './read-shape.ts';

${written('ACTION_FIELDS', actions)}
${written('OBSERVATION_FIELDS', observations)}`;
    await expect(text).toMatchFileSnapshot('kind-shapes.ts');
  });

  it.each(SCHEMAS)('CK960: $name is read as its definition reads it', ({ schema, kind, fields }) => {
    const own = (fields as Readonly<Record<string, Fields>>)[kind]!;
    assert(
      property(near(['o', own, true]), (value) => {
        const wanted = schema.safeParse(value);
        expect(readFields(own, value)).toEqual(wanted.success ? wanted.data : undefined);
      }),
      { numRuns: 60 },
    );
  });
});
