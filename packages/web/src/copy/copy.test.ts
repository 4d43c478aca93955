import { readFileSync } from 'node:fs';
import { type Action, AGENT_STATES, fromJson, parseAgentState } from '@tendon/protocol';
import { describe, expect, it } from 'vitest';
import { money, short, ago, duration, elapsed } from './figures.ts';
import { causeWords } from './error-words.ts';
import { costWords } from './cost-words.ts';
import { askedSentence, cut, firstLine, firstSentence } from './shorten.ts';
import { stateSentence } from './state-sentence.ts';

const doing = (action: string, args: object) => fromJson({ id: 1, timestamp: '', source: 'agent', action, args }) as Action;

describe('the sentence of a state', () => {
  it.each(AGENT_STATES)('CL25: %s has one', (state) => {
    expect(stateSentence({ state }).text).toMatch(/^[A-Z]/);
  });

  it('CL949: the page about the design lists them as they are', () => {
    const page = readFileSync(new URL('../../../../docs/ui.md', import.meta.url), 'utf8');
    const listed = [...page.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].filter(([, state]) => parseAgentState(state) !== undefined);
    expect(listed.map(([, state, text]) => [state, text])).toEqual(AGENT_STATES.map((state) => [state, stateSentence({ state }).text]));
  });

  it.each([
    ['loading', {}, 'Starting the sandbox'],
    ['running', {}, 'Thinking'],
    ['running', { doing: doing('run', { command: 'npm test\nnpm run lint' }) }, 'Running npm test'],
    ['running', { doing: doing('edit', { path: '/workspace/src/a.ts', command: 'str_replace' }) }, 'Editing a.ts'],
    ['running', { doing: doing('read', { path: 'a.ts' }) }, 'Reading a.ts'],
    ['running', { doing: doing('read', { path: '.', search: { kind: 'grep', pattern: 'x' } }) }, 'Searching for x'],
    ['running', { doing: doing('browse', { url: 'http://localhost:5173/x' }) }, 'Opening localhost:5173'],
    ['running', { isWriting: true }, 'Writing'],
    ['running', { doing: doing('run', { command: 'cd /workspace/app && npm test' }) }, 'Running npm test'],
    ['running', { doing: doing('run', { command: '' }), isWriting: true }, 'Waiting for output'],
    ['awaiting_user_input', {}, 'Your turn'],
    ['awaiting_user_input', { asks: true }, 'Asked you something'],
    ['awaiting_user_input', { isFresh: true }, 'Ready'],
    ['awaiting_user_confirmation', {}, 'Waiting for your decision'],
    ['paused', {}, 'Paused by you'],
    ['paused', { doing: doing('run', { command: 'npm test' }) }, 'Pausing: the command ends first'],
    ['finished', {}, 'Done'],
    ['finished', { filesEdited: 4 }, 'Done, 4 files edited'],
    ['finished', { filesEdited: 0 }, 'Done, nothing changed'],
    ['error', { reason: 'OSError: no disk space left' }, 'Stopped: no disk space left'],
    ['error', { reason: 'STATUS$ERROR_LLM_AUTHENTICATION' }, 'Stopped: the provider refused the key'],
    [
      'error',
      { reason: 'The agent took 500 steps since your last message, which is the limit. Resume to let it go on.' },
      'Paused after 500 steps, your limit',
    ],
    [
      'error',
      { reason: 'The conversation has cost $5.02; its budget is $5.00. Raise the budget to go on.' },
      'Paused: the budget of $5.00 is used up',
    ],
    [
      'error',
      { reason: 'STATUS$ERROR_LLM_AUTHENTICATION', detail: 'The model’s provider refused the key: HTTP 401, Key expired' },
      'Stopped: the provider refused the key: HTTP 401, Key expired',
    ],
    [
      'running',
      { reason: 'b/small answers in place of a/big: The model’s provider did not answer: HTTP 529, Overloaded' },
      'Thinking with b/small: HTTP 529, Overloaded',
    ],
    [
      'rate_limited',
      { model: 'openai/gpt-4o', resumesAt: '2026-01-01T00:00:18Z', now: Date.parse('2026-01-01') },
      'openai/gpt-4o asked for a pause, trying again in 18 s',
    ],
    [
      'rate_limited',
      {
        model: 'gpt',
        reason: "The model's provider failed: HTTP 500, oops",
        resumesAt: '2026-01-01T00:00:18Z',
        now: Date.parse('2026-01-01'),
      },
      'gpt failed, trying again in 18 s: HTTP 500, oops',
    ],
    ['rate_limited', { model: 'gpt', reason: "The model's provider failed: HTTP 500, oops" }, 'gpt failed: HTTP 500, oops'],
    [
      'rate_limited',
      { reason: "The model's provider did not answer: connect ECONNREFUSED" },
      'The model did not answer: connect ECONNREFUSED',
    ],
  ] as const)('CL25: %s %j is "%s"', (state, facts, text) => {
    expect(stateSentence({ state, ...facts }).text).toBe(text);
  });
});

describe('figures', () => {
  it('have units', () => {
    expect([duration(900), duration(3100), duration(64_000), elapsed(3_700_000), elapsed(300_000_000)]).toEqual([
      ...['0.9 s', '3.1 s', '1 min 04 s', '1 h 01 min', '3 d 11 h'],
    ]);
    expect([short(840), short(82_000), short(1_200_000)]).toEqual(['840', '82k', '1.2M']);
    expect([money(0), money(0.001), money(0.42)]).toEqual(['$0.00', 'under $0.01', '$0.42']);
  });

  it('CL1150: what a conversation cost is what its answers cost, whatever model is chosen now', () => {
    const demo = { cost: 0, answeredBy: 'demo' };
    expect([costWords({ cost: 0 }), costWords({ cost: undefined }), costWords(demo)].map(({ text }) => text)).toEqual(['', '', 'demo']);
    expect(costWords({ cost: 0.42, answeredBy: 'demo' })).toEqual({ text: '$0.42' });
    expect(costWords({ cost: 0, unpriced: 82_000, answeredBy: 'my/model' })).toEqual({ text: '–', title: '82k tokens, price not known' });
    expect(costWords({ cost: 0.42, unpriced: 840, answeredBy: 'my/model' })).toEqual({
      text: '$0.42 +',
      title: '$0.42 and 840 tokens, price not known',
    });
    expect(costWords({ cost: 0, answeredBy: 'ollama/small' }).text).toBe('$0.00');
  });

  it('say how long ago', () => {
    const now = new Date(2026, 2, 12, 12, 0).getTime();
    const before = (ms: number) => ago(new Date(now - ms).toISOString(), now, 'en-GB');
    expect([before(5_000), before(38 * 60_000), before(2 * 3_600_000), before(30 * 3_600_000)]).toEqual([
      'now',
      '38 min',
      '10:00',
      'yesterday',
    ]);
    expect(ago('nonsense', now)).toBe('');
  });

  it('are cut where a line has no end', () => {
    expect(firstLine('x'.repeat(1_000_000))).toHaveLength(300);
    expect(firstSentence('One. Two.')).toBe('One.');
    expect(firstSentence('x'.repeat(1_000_000))).toHaveLength(300);
    expect(cut(`${'a'.repeat(8)}😀b`, 10)).toBe(`${'a'.repeat(8)}…`);
  });

  it('cut a cause to its words', () => {
    expect(causeWords('one two three four five six seven eight nine')).toBe('one two three four five six seven eight…');
    expect(causeWords('')).toBe('no reason given');
  });
});

it.each([
  ['Which one?', 'Which one?'],
  ['It takes **2.9 s**.\n\nAn index helps. Shall I add `by_day`? It locks the table.', 'Shall I add by_day?'],
  ['## Two ways\n- the first\n- the second', 'Two ways'],
  ['x'.repeat(200), `${'x'.repeat(119)}…`],
])('what a message asks is its last question, or its first line: %j', (text, asked) => {
  expect(askedSentence(text)).toBe(asked);
});
