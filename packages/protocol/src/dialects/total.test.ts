import { anyCharacter } from '@tendon/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { draftFromJson, fromJson, messageOf, toJson } from '../codec.ts';
import { ACTIONS, OBSERVATIONS } from '../kinds.ts';
import { INITIAL_STATE, reduce } from '../reduce.ts';
import { decodeFrame } from './decode-frame.ts';
import { eventsDoc } from './events-doc.ts';
import { WS_DIALECTS } from './opendevin-ws.ts';
import { detectGeneration } from './opendevin-ws/detect-generation.ts';
import { openhandsV0InBand } from './openhands-v0-in-band.ts';
import { openhandsV0Early, openhandsV0Middle, openhandsV0Late } from './openhands-pages.ts';
import { openhandsV0 } from './openhands-v0.ts';

const DIALECTS = [
  openhandsV0,
  openhandsV0Middle,
  openhandsV0Early,
  openhandsV0Late,
  openhandsV0InBand,
  ...Object.values(WS_DIALECTS),
  eventsDoc,
];
const RUNS = { numRuns: 500 };

/** Keys that code reads, and keys that hurt careless code, over any JSON. */
const KEYS =
  'id timestamp source cause message args extras content success timeout executor unknown raw command metadata path outputs reason agent_state task task_list microagent_knowledge thought model'
    .split(' ')
    .concat('__proto__ constructor prototype toString toJSON hasOwnProperty length then'.split(' '));
const { json } = fc.letrec<{ json: unknown; object: object }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.string(), fc.string({ unit: anyCharacter }), fc.integer(), fc.double(), fc.boolean(), fc.constant(null)),
    fc.array(tie('json'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc
    .array(fc.tuple(fc.oneof(fc.constantFrom(...KEYS), fc.string()), tie('json')), { maxLength: 6 })
    .map(
      (entries) => JSON.parse(`{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`) as object,
    ),
}));

const jsonValue = json.map((value) => JSON.parse(JSON.stringify(value) ?? 'null') as unknown);

/** An object that throws when it is made a string or a number. */
const HOSTILE = { toString: 0, valueOf: 0 };

/** Nearly right: a real kind, a body with the right keys and any values. */
const nearlyEvent = fc
  .tuple(
    fc.oneof(
      fc.constantFrom(...Object.keys(ACTIONS)).map((action) => ({ action })),
      fc.constantFrom(...Object.keys(OBSERVATIONS)).map((observation) => ({ observation })),
    ),
    fc.dictionary(
      fc.constantFrom('command_id', 'query', 'status_code', ...argumentNames()),
      fc.oneof(fc.string(), fc.constantFrom<unknown>('running', 'PAUSED', 0, -1, true, null, HOSTILE, { reason: HOSTILE }), json),
    ),
    fc.dictionary(fc.constantFrom(...KEYS), json),
    fc.oneof(fc.string(), json),
  )
  .map(
    ([kind, body, extra, content]) =>
      JSON.parse(JSON.stringify({ ...extra, ...kind, args: body, extras: body, content })) as Record<string, unknown>,
  );

function argumentNames(): string[] {
  const definitions = [
    ...Object.values(ACTIONS).map((item) => item.args.shape),
    ...Object.values(OBSERVATIONS).map((item) => item.extras.shape),
  ];
  return [...new Set(definitions.flatMap((shape) => Object.keys(shape)))];
}

const frame = fc.oneof(jsonValue, nearlyEvent);
const stored = fc.oneof(
  nearlyEvent,
  jsonValue.filter((value): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)),
);

describe('nothing that comes over the wire or out of the store breaks a dialect', () => {
  it('DL27: decode is total, and what it accepts is well-formed', () => {
    fc.assert(
      fc.property(frame, (value) => {
        for (const entry of ['plain', 'auth', 'resumed', 'protocol'] as const) detectGeneration(entry, value);
        const decoded = decodeFrame(value);
        expect(['action', 'initialize', 'start', 'answer', 'error']).toContain(decoded.type);
        if (decoded.type !== 'action') return;
        expect(Object.getPrototypeOf(decoded.action.args)).toBe(Object.prototype);
        expect(Object.keys(Object.prototype)).toEqual([]);
        expect(draftFromJson(JSON.parse(JSON.stringify(decoded.action)) as Record<string, unknown>)).toEqual(decoded.action);
      }),
      RUNS,
    );
  });

  it('DL28: every stored JSON can be read, folded and shown in every dialect', () => {
    fc.assert(
      fc.property(stored, fc.constantFrom('live' as const, 'replay' as const), (value, phase) => {
        const event = fromJson({ ...value, id: 0, timestamp: '2026-11-21T10:00:00.000Z', source: 'agent' });
        expect(typeof messageOf(event)).toBe('string');
        reduce(INITIAL_STATE, event);
        for (const dialect of DIALECTS) {
          for (const shown of dialect.encode(event, phase)) expect(typeof JSON.stringify(shown)).toBe('string');
        }
      }),
      RUNS,
    );
  });

  it('DL9: an unknown kind survives store and read byte for byte, and passes every dialect', () => {
    const unknownKind = fc.string().filter((kind) => !Object.hasOwn(ACTIONS, kind));
    fc.assert(
      fc.property(unknownKind, fc.dictionary(fc.string(), jsonValue), (action, rest) => {
        const { executor: _inside, observation: _observation, action: _action, ...others } = rest;
        const wire = JSON.stringify({ id: 3, timestamp: 't', source: 'agent', action, ...others });
        const value = JSON.parse(wire) as Record<string, unknown>;
        const event = fromJson(value);
        expect(JSON.stringify(toJson(fromJson(JSON.parse(JSON.stringify(toJson(event))) as Record<string, unknown>)))).toBe(
          JSON.stringify(toJson(event)),
        );
        for (const dialect of DIALECTS) expect(dialect.encode(event, 'live')).toMatchObject([{ action }]);
      }),
      RUNS,
    );
  });

  it('DL28: encoding does not change the event', () => {
    fc.assert(
      fc.property(stored, (value) => {
        const event = fromJson({ ...value, id: 0, timestamp: 't', source: 'environment' });
        const before = JSON.stringify(event);
        for (const dialect of DIALECTS) dialect.encode(event, 'live');
        expect(JSON.stringify(event)).toBe(before);
      }),
      RUNS,
    );
  });
});
