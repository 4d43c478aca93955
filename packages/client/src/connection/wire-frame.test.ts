import { anything, assert, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readFrame } from './wire-frame.ts';

describe('frames of the server', () => {
  it('CL6: anything at all is read', () => {
    assert(
      property(anything(), (frame) => {
        expect(readFrame(frame)).toHaveProperty('type');
      }),
    );
  });

  it('CL6: an unknown kind is an event that keeps every key', () => {
    const frame = { id: 4, timestamp: 'T', source: 'agent', action: 'workspace_snapshot', args: { files: 812 }, extra: [1] };
    expect(readFrame(frame)).toMatchObject({ type: 'event', event: { id: 4, unknown: true, raw: { args: { files: 812 }, extra: [1] } } });
  });

  it('CL6: sources of any case and missing meta fields are taken', () => {
    expect(readFrame({ id: 0, source: 'USER', action: 'message', args: { content: 'hi' } })).toMatchObject({
      type: 'event',
      event: { source: 'user', timestamp: '' },
    });
  });

  it.each([
    [
      { status_update: true, type: 'info', id: 'STATUS$READY', message: '' },
      { type: 'status', status: { id: 'STATUS$READY' } },
    ],
    [
      { error: true, message: 'no' },
      { type: 'notice', message: 'no' },
    ],
    [
      { observation: 'error', content: 'no', extras: { error_id: 'E' } },
      { type: 'notice', message: 'no', errorId: 'E' },
    ],
    [
      {
        ...{ volatile: 'replay', phase: 'tail', from: 0, first_id: 40 },
        state: {
          ...{ next_id: 60, agent_state: 'running', reason: '', last_user_message_id: 3, last_agent_event_id: 59 },
          pending: [{ id: 59, source: 'agent', action: 'run', args: { command: 'ls' } }, { id: 'x' }, 5],
        },
      },
      {
        ...{ type: 'tail', from: 0, to: 40 },
        state: { nextId: 60, agentState: 'running', lastUserMessageId: 3, pending: [{ id: 59, action: 'run' }] },
      },
    ],
    [{ volatile: 'replay', phase: 'tail', from: 0, first_id: 40 }, { type: 'ignored' }],
    [{ volatile: 'delta', turn: 3, part: 'text', offset: 0, text: 'a' }, { type: 'delta' }],
    [{ volatile: 'output', cause: 3, offset: 0, text: 'a' }, { type: 'output' }],
    [
      { volatile: 'delegated', waiting: [{ conversation_id: 'a', event_id: 7 }, null, { conversation_id: 'b' }] },
      { type: 'delegated', waiting: [{ conversation_id: 'a', event_id: 7 }] },
    ],
    [
      { volatile: 'network', questions: [{ host: 'a.example', port: 443, asked_at: 'T' }, null, { host: 1 }] },
      { type: 'network', questions: [{ host: 'a.example' }] },
    ],
    [{ volatile: 'network' }, { type: 'ignored' }],
    [{ volatile: 'replay', phase: 'begin' }, { type: 'replay' }],
    [
      { volatile: 'replay', phase: 'end', next_id: 3 },
      { type: 'replay', frame: { next_id: 3 } },
    ],
    [{ volatile: 'replay', phase: 'end', next_id: '3' }, { type: 'ignored' }],
    [{ volatile: 'output', cause: -1, offset: 0, text: 'a' }, { type: 'ignored' }],
    [{ id: -1, observation: 'null' }, { type: 'ignored' }],
    [{ id: 1.5, observation: 'think' }, { type: 'ignored' }],
  ])('CL6: %j', (frame, expected) => {
    expect(readFrame(frame)).toMatchObject(expected);
  });
});
