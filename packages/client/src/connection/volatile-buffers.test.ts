import { fromJson } from '@tendon/protocol';
import { describe, expect, it } from 'vitest';
import { VolatileBuffers } from './volatile-buffers.ts';

const delta = (turn: number, offset: number, text: string) => ({ volatile: 'delta', turn, part: 'text', offset, text }) as const;

describe('volatile text', () => {
  it('CL7: pieces make the text; an offset before the end starts over from there', () => {
    const buffers = new VolatileBuffers();
    buffers.addDelta(delta(5, 0, 'Hello '));
    buffers.addDelta(delta(5, 6, 'world'));
    expect(buffers.answer?.text).toBe('Hello world');
    buffers.addDelta(delta(5, 0, 'Again'));
    expect(buffers.answer?.text).toBe('Again');
    buffers.addDelta(delta(4, 0, 'late'));
    expect(buffers.answer?.turn).toBe(5);
  });

  it('CL940: of an answer whose beginning is not known nothing is shown, and nothing is joined over a gap', () => {
    const buffers = new VolatileBuffers();
    buffers.addDelta(delta(5, 40, 's 2. run'));
    expect(buffers.answer).toBeUndefined();
    buffers.addDelta(delta(5, 0, 'Steps 1. look'));
    buffers.addDelta(delta(5, 60, 'write'));
    expect(buffers.answer?.text).toBe('Steps 1. look');
  });

  it('CL940: an answer that is being written stays when its user writes, and when an action of theirs ends', () => {
    const buffers = new VolatileBuffers();
    buffers.addDelta(delta(5, 0, 'Hello'));
    const meta = { timestamp: '', cause: 6 };
    buffers.settle(fromJson({ ...meta, id: 5, source: 'user', action: 'message', args: { content: 'quickly' } }));
    buffers.settle(fromJson({ ...meta, id: 6, source: 'user', action: 'run', args: { command: 'ls' } }));
    buffers.settle(fromJson({ ...meta, id: 7, source: 'agent', observation: 'run', content: '', extras: { command: 'ls' } }));
    buffers.addDelta(delta(5, 5, ' world'));
    expect(buffers.answer?.text).toBe('Hello world');
    buffers.settle(
      fromJson({
        id: 8,
        timestamp: '',
        source: 'environment',
        observation: 'agent_state_changed',
        content: '',
        extras: { agent_state: 'stopped' },
      }),
    );
    expect(buffers.answer).toBeUndefined();
  });

  it('CL7: the event that replaces it ends it', () => {
    const buffers = new VolatileBuffers();
    buffers.addDelta(delta(5, 0, 'Hello'));
    buffers.addOutput({ volatile: 'output', cause: 2, offset: 0, text: 'one\n' });
    buffers.settle(
      fromJson({ id: 4, timestamp: '', source: 'agent', observation: 'run', cause: 2, content: '', extras: { command: 'ls' } }),
    );
    expect(buffers.outputs().size).toBe(0);
    expect(buffers.answer?.text).toBe('Hello');
    buffers.settle(fromJson({ id: 5, timestamp: '', source: 'agent', action: 'message', args: { content: 'Hello' } }));
    expect(buffers.answer).toBeUndefined();
  });

  it('CL7: an endless output keeps its end only', () => {
    const buffers = new VolatileBuffers();
    for (let round = 0; round < 40; round += 1) {
      buffers.addOutput({ volatile: 'output', cause: 1, offset: round * 10_000, text: String(round % 10).repeat(10_000) });
    }
    const text = buffers.outputs().get(1)!;
    expect(text.length).toBeLessThanOrEqual(262_144);
    expect(text.endsWith('9'.repeat(10_000))).toBe(true);
  });
});
