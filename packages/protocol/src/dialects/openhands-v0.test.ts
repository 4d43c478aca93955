import { describe, expect, it } from 'vitest';
import { fromJson } from '../codec.ts';
import { catalogError } from '../error-catalog.ts';
import type { EventSource } from '../event.ts';
import type { Phase } from './dialect.ts';
import { openhandsV0 } from './openhands-v0.ts';

function event(source: EventSource, body: Readonly<Record<string, unknown>>, id = 5) {
  return fromJson({ id, timestamp: '2026-11-21T10:00:00.000Z', source, ...body });
}

const run = { observation: 'run', content: 'hi', extras: { command: 'ls', metadata: { exit_code: 0 } } };
const state = (agent_state: string) => ({ observation: 'agent_state_changed', extras: { agent_state } });

describe('which events a Socket.IO client sees', () => {
  it.each<[EventSource, Phase, string, object, EventSource | undefined]>([
    ['agent', 'live', 'an action', { action: 'run', args: { command: 'ls' } }, 'agent'],
    ['user', 'live', 'the echo of a message', { action: 'message', args: { content: 'hi' } }, 'user'],
    ['user', 'live', 'a request for a state', { action: 'change_agent_state', args: { agent_state: 'paused' } }, 'user'],
    ['environment', 'live', 'bookkeeping of a state', { action: 'change_agent_state', args: { agent_state: 'running' } }, undefined],
    ['environment', 'replay', 'bookkeeping of a state', { action: 'change_agent_state', args: { agent_state: 'running' } }, 'environment'],
    ['environment', 'live', 'a run', run, 'agent'],
    ['environment', 'live', 'a state', state('running'), 'agent'],
    ['environment', 'live', 'a recall', { observation: 'recall', content: '', extras: {} }, 'agent'],
    ['environment', 'live', 'an error', { observation: 'error', content: 'no', extras: {} }, 'agent'],
    ['environment', 'replay', 'a run', run, 'environment'],
    ['user', 'live', 'the recall action', { action: 'recall', args: { query: 'q' } }, 'user'],
    ['user', 'replay', 'the recall action', { action: 'recall', args: { query: 'q' } }, undefined],
    ['agent', 'live', 'a null action', { action: 'null', args: {} }, undefined],
    ['agent', 'replay', 'a null observation', { observation: 'null', content: '' }, undefined],
  ])('DL5: from %s, %s: %s', (source, phase, _what, body, seen) => {
    expect(openhandsV0.encode(event(source, { ...body }), phase).map((frame) => frame.source)).toEqual(seen ? [seen] : []);
  });

  it('DL5: other observations of the environment are shown too; nothing that a replay shows is missing live', () => {
    expect(openhandsV0.encode(event('environment', { observation: 'success', content: 'ok' }), 'live')).toHaveLength(1);
  });

  it('DL6: a start is shown as the user’s message, which is what these clients look for', () => {
    expect(openhandsV0.encode(event('user', { action: 'start', args: { task: 'do it' } }), 'live')).toMatchObject([
      { action: 'message', message: 'do it', args: { content: 'do it', image_urls: null } },
    ]);
  });

  it('DL8: output is cut in the middle, hidden output is not, and no character is split', () => {
    const content = `a${'😀'.repeat(20_000)}`;
    const encode = (hidden: boolean) =>
      openhandsV0.encode(event('agent', { ...run, content, extras: { ...run.extras, hidden } }), 'live')[0]!.content as string;
    expect(encode(true)).toBe(content);
    expect(encode(false).length).toBeLessThan(30_100);
    expect(encode(false).isWellFormed()).toBe(true);
    expect(encode(false).startsWith('a😀') && encode(false).endsWith('😀')).toBe(true);
  });

  it('DL9: an unknown kind comes out as it went in', () => {
    const stored = {
      id: 5,
      timestamp: 't',
      source: 'agent',
      message: 'm',
      action: 'levitate',
      args: { height: 2, note: null },
      later: [1],
    };
    expect(JSON.stringify(openhandsV0.encode(fromJson({ ...stored, executor: 'inside' }), 'live')[0])).toBe(JSON.stringify(stored));
  });

  it('DL4: old names stand beside the new ones', () => {
    const [frame] = openhandsV0.encode(event('agent', run), 'live');
    expect(frame).toMatchObject({ success: true, extras: { exit_code: 0, command_id: -1, metadata: { exit_code: 0 } } });
    const recall = { observation: 'recall', content: '', extras: { microagent_knowledge: [{ name: 'n', trigger: 't', content: 'c' }] } };
    expect(openhandsV0.encode(event('agent', recall), 'live')[0]!.extras).toMatchObject({
      microagent_knowledge: [{ name: 'n', trigger: 't', content: 'c', agent_name: 'n', trigger_word: 't' }],
    });
  });

  it('DL12: statuses and errors are status updates; deltas and output are not events', () => {
    expect(openhandsV0.encodeVolatile({ volatile: 'status', type: 'info', id: 'STATUS$READY', message: '' })).toEqual([
      { status_update: true, type: 'info', id: 'STATUS$READY', message: '' },
    ]);
    expect(openhandsV0.encodeVolatile({ volatile: 'delta', turn: 1, part: 'text', offset: 0, text: 'x' })).toEqual([]);
    expect(openhandsV0.encodeError(catalogError('NO_TASK'), 't')).toMatchObject({ status_update: true, type: 'error', code: 'NO_TASK' });
  });
});

it('DL123: the message of a finish is the last words, which frontends before 0.28 show and nothing else', () => {
  const shown = (args: object) =>
    openhandsV0.encode(fromJson({ id: 1, timestamp: 't', source: 'agent', action: 'finish', args }), 'live')[0]!.message;
  expect(shown({ final_thought: 'It is done.' })).toBe('It is done.');
  expect(shown({ final_thought: 'It is done.', thought: 'So' })).toBe('So');
  expect(shown({})).toMatch(/done/i);
});
