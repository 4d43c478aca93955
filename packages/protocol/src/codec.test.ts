import { anyCharacter } from '@tendon/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answeredBy, isRunnable } from './answered-by.ts';
import { draftFromJson, fromJson, messageOf, toJson } from './codec.ts';
import { isAction, isObservation, isUnknown, type ActionKind, type Event } from './event.ts';
import { ACTIONS, OBSERVATIONS } from './kinds.ts';

const key = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 8 }),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'then',
    'toJSON',
    'unknown',
    'raw',
    'cause',
    '0',
    '10',
    '',
  ),
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: anyCharacter }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, false, 0, '\u2028', '\ud800'),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(key, tie('any'), { maxKeys: 4 }),
  ),
})).any;
const object = fc.dictionary(key, value, { maxKeys: 8 });
const meta = fc.record({
  id: fc.nat(),
  timestamp: fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  source: fc.constantFrom('agent', 'user', 'environment'),
});
const kindOfNobody = fc
  .oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'RUN', 'run ', 'browse_v9'))
  .filter((kind) => !Object.hasOwn(ACTIONS, kind) && !Object.hasOwn(OBSERVATIONS, kind));

/** As it would have come over the wire: text, so that `__proto__` is a key like any other. */
function text(...parts: readonly object[]): string {
  const entries = parts.flatMap((part) => Object.entries(part)).map(([name, item]) => `${JSON.stringify(name)}:${JSON.stringify(item)}`);
  return JSON.stringify(JSON.parse(`{${entries.join(',')}}`));
}

const roundTrip = (json: string): string => JSON.stringify(toJson(fromJson(JSON.parse(json) as Record<string, unknown>)));

/** The smallest legal arguments of each kind. */
const ARGS = {
  null: {},
  initialize: {},
  start: { task: 't' },
  pause: {},
  resume: {},
  stop: {},
  push: {},
  send_pr: {},
  call_tool_mcp: { name: 'n' },
  run: { command: 'ls' },
  kill: { id: '1' },
  run_ipython: { code: '1' },
  read: { path: '/a' },
  write: { path: '/a', content: 'c' },
  edit: { path: '/a' },
  browse: { url: 'https://example.org' },
  browse_interactive: { browser_actions: 'noop()' },
  message: { content: 'hi' },
  system: { content: 's' },
  change_agent_state: { agent_state: 'running' },
  think: {},
  finish: {},
  reject: {},
  delegate: { agent: 'a' },
  recall: { query: 'q' },
  summarize: { summary: 's' },
  condensation: {},
  condensation_request: {},
  task_tracking: {},
  loop_recovery: {},
  restore_checkpoint: { checkpoint: 1 },
  add_task: { parent: '', goal: 'g' },
  modify_task: { id: '1', state: 'open' },
} as const satisfies Record<ActionKind, Record<string, unknown>>;

describe('the codec', () => {
  it('EL7: unknown kinds survive byte for byte, whatever they hold', () => {
    const property = fc.property(meta, object, fc.constantFrom('action', 'observation'), kindOfNobody, (fields, raw, role, kind) => {
      const json = text(fields, raw, { [role]: kind }, fields);
      expect(roundTrip(json)).toBe(json);
    });
    fc.assert(property, { numRuns: 500 });
  });

  it('EL7: so do objects that are no event at all, and known kinds whose arguments do not fit', () => {
    const misfit = fc.record({
      action: fc.constantFrom(...Object.keys(ACTIONS)),
      args: fc.oneof(fc.string({ minLength: 1 }), fc.integer(), fc.array(value)),
    });
    const property = fc.property(meta, fc.oneof(object, misfit), (fields, raw) => {
      const json = text(fields, raw, fields);
      const event = fromJson(JSON.parse(json) as Record<string, unknown>);
      fc.pre(isUnknown(event));
      expect(JSON.stringify(toJson(event))).toBe(json);
    });
    fc.assert(property, { numRuns: 500 });
  });

  it('EL7: an event is exactly one of action, observation and unknown', () => {
    const property = fc.property(
      meta,
      object,
      fc.constantFrom(...Object.keys(ARGS), 'x'),
      fc.option(fc.constantFrom(...Object.keys(OBSERVATIONS), 'y')),
      (fields, raw, action, observation) => {
        const json = text(raw, fields, { action, args: ARGS[action as ActionKind] ?? {} }, observation === null ? {} : { observation });
        const event: Event = fromJson(JSON.parse(json) as Record<string, unknown>);
        expect([isAction(event), isObservation(event), isUnknown(event)].filter(Boolean)).toHaveLength(1);
      },
    );
    fc.assert(property);
  });

  it.each(Object.entries(ARGS))('EL7: known kind %s keeps keys it does not know, beside and among its arguments', (kind, args) => {
    const json = text({
      id: 1,
      timestamp: 't',
      source: 'agent',
      action: kind,
      args: { ...args, brand_new: [1, { x: null }] },
      cause: 0,
      brand_new: 'stays',
    });
    const event = fromJson(JSON.parse(json) as Record<string, unknown>);
    expect(event).toMatchObject({ ...(JSON.parse(json) as object) });
    expect(isAction(event)).toBe(true);
    expect(roundTrip(roundTrip(json))).toBe(roundTrip(json));
    expect(typeof messageOf(event)).toBe('string');
  });

  it('EL7: known observations keep keys they do not know', () => {
    for (const kind of Object.keys(OBSERVATIONS)) {
      const json = {
        id: 1,
        timestamp: 't',
        source: 'agent',
        observation: kind,
        content: 'c',
        extras: {
          agent_state: 'running',
          command: 'c',
          code: 'c',
          path: 'p',
          file_path: 'f',
          url: 'u',
          checkpoint: 1,
          brand_new: { x: 1 },
        },
        brand_new: [],
      };
      const event = fromJson(json);
      expect(event).toMatchObject({ observation: kind, brand_new: [], extras: { brand_new: { x: 1 } } });
      expect(roundTrip(roundTrip(JSON.stringify(json)))).toBe(roundTrip(JSON.stringify(json)));
    }
  });

  it('EL5: meta fields of an unknown event win over the same names in its JSON', () => {
    const draft = draftFromJson({ action: 'from_the_future', id: 99, timestamp: '1970', source: 'god' });
    const event = { ...draft, id: 3, timestamp: '2026', source: 'user' } as Event;
    expect(toJson(event)).toEqual({ id: 3, timestamp: '2026', source: 'user', action: 'from_the_future' });
  });

  it.each([{ cause: '5' }, { cause: 1.5 }, { timeout: 'soon' }, { executor: 7 }, { tool_call_metadata: 'x' }, { llm_metrics: 7 }])(
    'EL7: a known kind with %o is not taken for what it claims to be, and stays whole',
    (wrong) => {
      const raw = { observation: 'run', content: '', extras: { command: 'ls' }, ...wrong };
      const draft = draftFromJson(raw);
      expect(isUnknown(draft)).toBe(true);
      expect(JSON.stringify((draft as { raw: unknown }).raw)).toBe(JSON.stringify(raw));
    },
  );

  it('RE3: who answers an action is what its definition says', () => {
    for (const [kind, { traits }] of Object.entries(ACTIONS)) {
      expect([kind, answeredBy(kind as ActionKind)]).toEqual([kind, traits.answeredBy]);
      expect(isRunnable(kind as ActionKind)).toBe(traits.answeredBy === 'runtime');
    }
  });

  it('the tables name each definition by its own kind', () => {
    for (const [kind, definition] of [...Object.entries(ACTIONS), ...Object.entries(OBSERVATIONS)]) expect(definition.kind).toBe(kind);
  });
});
