import type { Event } from '@tendon/protocol';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TextRenderer } from './text-renderer.ts';

const meta = { timestamp: '2026-01-01T00:00:00.000Z', source: 'agent' as const };
const run = { ...meta, id: 1, action: 'run', args: { command: 'npm test', thought: 'I run the tests.' } } as unknown as Event;
const ran = (content: string, exit_code = 0) =>
  ({
    ...meta,
    id: 2,
    cause: 1,
    observation: 'run',
    content,
    extras: { command: 'npm test', metadata: { exit_code, suffix: '' } },
  }) as unknown as Event;

function render(isLive: boolean, isColoured = false) {
  let written = '';
  const renderer = new TextRenderer({ write: (text) => (written += text), isLive, isColoured, now: () => Date.now() });
  return Object.defineProperty(renderer, 'written', { get: () => written }) as TextRenderer & { readonly written: string };
}

describe('without a terminal', () => {
  it('shows the run from the log alone', () => {
    const shown = render(false);
    shown.frame({ volatile: 'delta', turn: 1, part: 'text', offset: 0, text: 'I run' });
    shown.event(run);
    shown.frame({ volatile: 'output', cause: 1, offset: 0, text: 'ok 1\n' });
    shown.event(ran('ok 1\nok 2\n', 3));
    shown.end();
    expect(shown.written).toBe('I run the tests.\n$ npm test\n  ok 1\n  ok 2\nexit 3\n');
  });

  it('cuts long output and says by how much', () => {
    const shown = render(false);
    shown.event(ran(Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n')));
    expect(shown.written.split('\n').slice(0, 4)).toEqual(['  line 0', '  line 1', '  … 90 more lines', '  line 92']);
    expect(shown.written.endsWith('\n  line 99\n')).toBe(true);
  });
});

it('CL962: a line of output without an end is cut', () => {
  const shown = render(false);
  shown.event(ran(`${'x'.repeat(100_000)}\nlast`));
  shown.end();
  expect(shown.written).toBe(`  ${'x'.repeat(500)}… 99500 more characters\n  last\n`);
});

describe('on a terminal', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('TE1: shows words as they come, once, and their end with the event', () => {
    const shown = render(true);
    shown.frame({ volatile: 'delta', turn: 1, part: 'text', offset: 0, text: 'I run ' });
    shown.frame({ volatile: 'delta', turn: 1, part: 'text', offset: 6, text: 'the te' });
    shown.frame({ volatile: 'delta', turn: 1, part: 'tool', offset: 0, text: '{"command":' });
    shown.event({ ...meta, id: 0, observation: 'agent_state_changed', content: '', extras: { agent_state: 'running', reason: '' } });
    shown.event(run);
    shown.frame({ volatile: 'output', cause: 1, offset: 0, text: 'ok 1\nok' });
    shown.frame({ volatile: 'output', cause: 1, offset: 7, text: ' 2\n' });
    shown.event(ran('ok 1\nok 2\n'));
    shown.end();
    expect(shown.written).toBe('I run the tests.\n$ npm test\n  ok 1\n  ok 2\n');
  });

  it('CK1003: in colours words are Markdown, live and from the log, and the end of a line comes with the event', () => {
    const words = '**Done**:\n- `a`';
    const speech = {
      ...meta,
      id: 3,
      action: 'message',
      args: { content: words, image_urls: [], wait_for_response: false },
    } as unknown as Event;
    const [live, later, plain] = [render(true, true), render(true, true), render(true)];
    for (const [index, text] of ['**Do', 'ne**:\n', '- `a'].entries())
      live.frame({ volatile: 'delta', turn: 1, part: 'text', offset: index, text });
    for (const shown of [live, later, plain]) {
      shown.event(speech);
      shown.end();
    }
    const styled = '\u001b[1mDone\u001b[22m:\n• \u001b[36ma\u001b[39m\n';
    expect([live.written, later.written, plain.written]).toEqual([styled, styled, `${words}\n`]);
  });

  it('TE1: words that a retry made void are marked as void', () => {
    const shown = render(true);
    shown.frame({ volatile: 'delta', turn: 1, part: 'text', offset: 0, text: 'I wal' });
    shown.frame({ volatile: 'delta', turn: 1, part: 'text', offset: 0, text: 'I run the tests.' });
    shown.event(run);
    shown.end();
    expect(shown.written).toBe('I wal\n(interrupted, once more)\nI run the tests.\n$ npm test\n');
  });

  it('TE2: the last line is one line, however wide its characters are', () => {
    const shown = render(true);
    shown.event({ ...run, args: { command: `echo ${'日\t'.repeat(40)}` } } as unknown as Event);
    vi.advanceTimersByTime(250);
    expect(shown.written).toContain(`\u001b[?7lRunning echo ${'日 '.repeat(20)}`);
    expect(shown.written.endsWith('…\u001b[?7h')).toBe(true);
    shown.end();
  });

  it('TE2: the last line says what is being done and for how long', () => {
    const shown = render(true);
    shown.event(run);
    vi.advanceTimersByTime(2_000);
    expect(shown.written).toContain('Running npm test  2 s\u001b[?7h');
    const drawn = shown.written;
    vi.advanceTimersByTime(500);
    expect(shown.written).toBe(drawn);
    shown.event(ran('ok'));
    expect(shown.written.endsWith('2 s\u001b[?7h\r\u001b[2K  ok\n')).toBe(true);
    shown.end();
  });
});
