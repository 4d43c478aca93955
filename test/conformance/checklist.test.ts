import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import {
  ACTIONS,
  answeredBy,
  eventsDoc,
  fromJson,
  isUnknown,
  OBSERVATIONS,
  opendevinWs,
  openhandsV0,
  type ActionKind,
  type ObservationKind,
} from '@tendon/protocol';
import { DOCUMENT } from '../../packages/conformance/src/levels/events-doc/letter.ts';
import { EVERY_ACTION } from './every-kind.ts';

/** Rows B and C: the seed documents' kinds and arguments. */
const FOUNDING: Readonly<Record<string, string>> = {
  'action initialize': 'model directory agent_cls',
  'action start': 'task',
  'action read': 'path',
  'action write': 'path content',
  'action run': 'command background',
  'action kill': 'id',
  'action browse': 'url',
  'action recall': 'query',
  'action think': 'thought',
  'action finish': '',
  'observation read': 'path',
  'observation browse': 'url',
  'observation run': 'command',
  'observation recall': 'query',
  'observation chat': '',
};

/** Row Q: kind, argument, values. */
const VALUES: readonly (readonly [name: string, key: string, values: readonly unknown[]])[] = [
  [
    'action change_agent_state',
    'agent_state',
    'loading init running awaiting_user_input paused stopped finished rejected error'.split(' '),
  ],
  ['action change_agent_state', 'agent_state', 'rate_limited awaiting_user_confirmation user_confirmed user_rejected'.split(' ')],
  ['action run', 'confirmation_state', ['confirmed', 'rejected', 'awaiting_confirmation']],
  ['action run', 'security_risk', [-1, 0, 1, 2]],
  ['action recall', 'recall_type', ['environment_info', 'knowledge_microagent', 'default', 'workspace_context', 'knowledge']],
  ['action edit', 'impl_source', ['llm_based_edit', 'oh_aci']],
  ['action edit', 'command', ['view', 'create', 'str_replace', 'insert', 'undo_edit', 'write']],
  ['action read', 'impl_source', ['oh_aci', 'default']],
  ['action finish', 'task_completed', ['true', 'partial', 'false']],
];

/** Row T: what 0.62 speaks and no seed document names. */
const LATER = {
  actions: 'system start call_tool_mcp pause resume stop push send_pr condensation condensation_request task_tracking loop_recovery'.split(
    ' ',
  ),
  observations: 'chat message mcp download task_tracking loop_detection'.split(' '),
};

function shapeOf(name: string): Readonly<Record<string, z.ZodType>> {
  const [side, kind] = name.split(' ') as ['action' | 'observation', string];
  return side === 'action' ? ACTIONS[kind as ActionKind].args.shape : OBSERVATIONS[kind as ObservationKind].extras.shape;
}

describe('rows B, C, H–P, T: kinds and fields', () => {
  it('DL50: every argument of the seed documents is in our schemas', () => {
    const missing = Object.entries(FOUNDING).flatMap(([name, keys]) =>
      keys.split(' ').flatMap((key) => (key === '' || key in shapeOf(name) ? [] : [`${name}.${key}`])),
    );
    expect(missing).toEqual([]);
  });

  it('DL50: every field of the events document is in our schemas', () => {
    const missing = Object.entries(DOCUMENT).flatMap(([name, types]) =>
      Object.values(types)
        .flatMap((keys) => keys.split(' '))
        .flatMap((key) => (Object.hasOwn(shapeOf(name), key.split(/[.[]/)[0]!) ? [] : [`${name}.${key}`])),
    );
    expect(missing).toEqual([]);
  });

  it('DL50: every later kind of 0.62 is known', () => {
    expect(LATER.actions.filter((kind) => !Object.hasOwn(ACTIONS, kind))).toEqual([]);
    expect(LATER.observations.filter((kind) => !Object.hasOwn(OBSERVATIONS, kind))).toEqual([]);
  });

  it('DL51: every kind stands under its own name, with a schema, a constructor and traits', () => {
    for (const [kind, definition] of Object.entries(ACTIONS)) {
      expect(definition.kind).toBe(kind);
      expect(definition.create).toBeTypeOf('function');
      expect(definition.args.safeParse('no object').success).toBe(false);
      expect(definition.traits.answeredBy, kind).toBe(answeredBy(kind as ActionKind));
    }
    for (const [kind, definition] of Object.entries(OBSERVATIONS)) {
      expect(definition.kind).toBe(kind);
      expect(definition.create).toBeTypeOf('function');
      expect(definition.extras.safeParse('no object').success).toBe(false);
    }
  });
});

describe('row Q: values', () => {
  it.each(VALUES.flatMap(([name, key, values]) => values.map((value) => [name, key, value] as const)))(
    'DL52: %s takes %s %j, and every dialect shows it',
    (name, key, value) => {
      expect(shapeOf(name)[key]!.safeParse(value)).toEqual({ success: true, data: value });
      const sample = EVERY_ACTION.find(({ action }) => name === `action ${action}`)!;
      const event = fromJson({ ...sample, args: { ...sample.args, [key]: value } });
      expect(isUnknown(event)).toBe(false);
      for (const dialect of [openhandsV0, opendevinWs, eventsDoc]) expect(Array.isArray(dialect.encode(event, 'live'))).toBe(true);
    },
  );

  it.each(VALUES.map(([name, key]) => [name, key]))('DL52: %s takes no other %s', (name, key) => {
    expect(shapeOf(name!)[key!]!.safeParse('nonsense').success).toBe(false);
  });

  it.each(['agent', 'user', 'environment'])('DL52: source %s is preserved', (source) => {
    const event = fromJson({ id: 0, timestamp: '', source, action: 'think', args: { thought: 't' } });
    expect(openhandsV0.encode(event, 'replay')).toMatchObject([{ source }]);
  });
});

const ROOT = join(import.meta.dirname, '../..');
const ROWS: Readonly<Record<string, number>> = {
  A: 11,
  B: 14,
  C: 9,
  D: 12,
  E: 7,
  F: 6,
  G: 8,
  H: 7,
  I: 13,
  J: 24,
  K: 4,
  L: 14,
  M: 3,
  N: 12,
  O: 12,
  P: 4,
  Q: 61,
  R: 4,
  S: 10,
  T: 3,
};

describe('docs/spec/checklist.md', () => {
  const text = readFileSync(join(ROOT, 'docs/spec/checklist.md'), 'utf8');
  const rows = [...text.matchAll(/^\| ([A-T])(\d+)(?:–\1(\d+))? \|/gm)].flatMap(([, letter, first, last]) =>
    Array.from({ length: Number(last ?? first) - Number(first) + 1 }, (_, index) => `${letter}${Number(first) + index}`),
  );

  it('DL53: has every row of the checklist once', () => {
    const wanted = Object.entries(ROWS).flatMap(([letter, count]) => Array.from({ length: count }, (_, index) => `${letter}${index + 1}`));
    expect(rows.toSorted()).toEqual(wanted.toSorted());
  });

  it('DL53: names only files that exist', () => {
    const paths = [...text.matchAll(/`((?:packages|test|docs|scripts|examples)\/[^`*]+)`/g)].map((match) => match[1]!);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});
