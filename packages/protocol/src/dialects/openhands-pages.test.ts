import { expect, it } from 'vitest';
import { fromJson } from '../codec.ts';
import type { Dialect, Frame } from './dialect.ts';
import { dialectOfPage, openhandsV0Early, openhandsV0Middle, openhandsV0Late } from './openhands-pages.ts';
import { openhandsV0InBand } from './openhands-v0-in-band.ts';
import { openhandsV0 } from './openhands-v0.ts';

const PIXEL = 'data:image/png;base64,AAAA';

function shown(dialect: Dialect, json: object): readonly Frame[] {
  return dialect.encode(fromJson({ id: 1, timestamp: 't', source: 'agent', ...json }), 'live');
}

function finishOf(dialect: Dialect, args: object): unknown {
  return shown(dialect, { action: 'finish', args })[0]!.args;
}

it('DL189: the query of its socket identifies a page', () => {
  const query = { conversation_id: 'c', latest_event_id: '-1' };
  expect(dialectOfPage(query)).toBe(openhandsV0Early);
  expect(dialectOfPage({ ...query, providers_set: '' })).toBe(openhandsV0Middle);
  expect(dialectOfPage({ ...query, providers_set: '', session_api_key: 'null' })).toBe(openhandsV0Late);
});

it.each([openhandsV0Early, openhandsV0InBand])(
  'DL186: frontends of 0.16 to 0.32 find the last words in the thought, once (%#)',
  (dialect) => {
    expect(finishOf(dialect, { final_thought: 'It is done.' })).toMatchObject({ thought: 'It is done.', final_thought: '' });
    expect(finishOf(dialect, { final_thought: 'It is done.', thought: 'So' })).toMatchObject({ thought: 'So', final_thought: '' });
    expect(finishOf(openhandsV0, { final_thought: 'It is done.' })).toMatchObject({ thought: '', final_thought: 'It is done.' });
  },
);

it.each([openhandsV0Middle, openhandsV0Early, openhandsV0InBand])(
  'DL187: pictures of cells are in the text for them, and not beside it (%#)',
  (dialect) => {
    const cell = { observation: 'run_ipython', content: '[An image.]', extras: { code: 'plot()', image_urls: [PIXEL] } };
    expect(shown(dialect, cell)).toMatchObject([{ content: `![image](${PIXEL})`, extras: { image_urls: null } }]);
    expect(shown(openhandsV0Late, cell)).toMatchObject([{ content: '[An image.]', extras: { image_urls: [PIXEL] } }]);
  },
);

it('DL188: their terminals need CRLF; those of 0.15 to 0.17 the agent’s command, too', () => {
  const run = { observation: 'run', content: 'one\r\ntwo\nthree', extras: { command: 'a\nb', metadata: { exit_code: 0 } } };
  const lines = 'one\r\ntwo\r\nthree';
  expect(shown(openhandsV0Early, run)).toMatchObject([{ content: lines }]);
  expect(shown(openhandsV0InBand, run)).toMatchObject([{ content: `a\r\nb\r\n${lines}` }]);
  expect(shown(openhandsV0InBand, { ...run, source: 'user' })).toMatchObject([{ content: lines }]);
  expect(shown(openhandsV0InBand, { ...run, extras: { ...run.extras, command: '' } })).toMatchObject([{ content: lines }]);
  expect(shown(openhandsV0Late, run)).toMatchObject([{ content: run.content }]);
});

it('DL190: a page before 0.33 is not sent events that its chat would show as words of the agent', () => {
  const look = {
    observation: 'recall',
    content: '',
    extras: { recall_type: 'workspace_context', date: '2026-11-22', working_dir: '/workspace' },
  };
  expect(shown(openhandsV0Early, look)).toEqual([]);
  expect(shown(openhandsV0Early, { observation: 'think', content: 'Noted.', extras: {} })).toEqual([]);
  expect(shown(openhandsV0Early, { ...look, extras: { ...look.extras, repo_name: 'owner/name' } })).toHaveLength(1);
  expect(shown(openhandsV0Early, { ...look, extras: { recall_type: 'knowledge' } })).toHaveLength(1);
  expect(shown(openhandsV0Late, look)).toHaveLength(1);
});

it('DL191: 0.40 to 0.51 are sent their own values of task_completed', () => {
  const completed = (args: object) => (finishOf(openhandsV0Late, args) as Frame).task_completed;
  expect([{}, { task_completed: 'true' }, { task_completed: 'partial' }, { task_completed: 'false' }].map(completed)).toEqual([
    'success',
    'success',
    'partial',
    'failure',
  ]);
  expect((finishOf(openhandsV0, {}) as Frame).task_completed).toBeNull();
});

it('DL191: an unknown context window shows as unused', () => {
  const usage = (dialect: Dialect, context_window: number) => {
    const llm_metrics = { accumulated_cost: 0, accumulated_token_usage: { prompt_tokens: 110, per_turn_token: 110, context_window } };
    return shown(dialect, { action: 'think', args: { thought: 'hm' }, llm_metrics })[0]!.llm_metrics;
  };
  const shownBy = (dialect: Dialect, window: number) => (usage(dialect, window) as Frame).accumulated_token_usage as Frame;
  expect((110 / Number(shownBy(openhandsV0Late, 0).context_window)) * 100).toBeLessThan(0.005);
  expect(shownBy(openhandsV0Late, 0)).toMatchObject({ prompt_tokens: 110, per_turn_token: 110 });
  expect(shownBy(openhandsV0Late, 8_192)).toMatchObject({ context_window: 8_192 });
  expect(shownBy(openhandsV0, 0)).toMatchObject({ context_window: 0 });
});
