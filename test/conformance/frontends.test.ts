import { describe, expect, it } from 'vitest';
import { dialectOfPage, openhandsV0InBand, WS_DIALECTS, type Dialect, type Frame } from '@tendon/protocol';
import {
  readAs025,
  readAs03,
  readAs06,
  readAs062,
  readAs09,
  type FrameReader,
} from '../../packages/conformance/src/levels/frontends/page.ts';
import { EVERY_KIND, UNKNOWN } from './every-kind.ts';

const PAGES: readonly (readonly [release: string, dialect: Dialect, read: FrameReader])[] = [
  ['0.3', WS_DIALECTS['opendevin-2024-04'], readAs03],
  ['0.6', WS_DIALECTS['opendevin-2024-06'], readAs06],
  ['0.9', WS_DIALECTS['opendevin-2024-07'], readAs09],
  ['0.14', WS_DIALECTS['opendevin-2024-11'], readAs09],
  ['0.15', openhandsV0InBand, readAs09],
  ['0.25', dialectOfPage({}), readAs025],
  ['0.62', dialectOfPage({ providers_set: '', session_api_key: '' }), readAs062],
];

function problem(read: FrameReader, frame: Frame): string | undefined {
  try {
    return void read(frame);
  } catch (cause) {
    return `${(cause as Error).message} in ${JSON.stringify(frame).slice(0, 300)}`;
  }
}

describe.each(PAGES)('the page of %s', (_release, dialect, read) => {
  it('DL125: finds in a frame of every kind what it takes apart without looking', () => {
    const frames = EVERY_KIND.filter((event) => event !== UNKNOWN).flatMap((event) => [
      ...dialect.encode(event, 'live'),
      ...dialect.encode(event, 'replay'),
    ]);
    expect(frames.flatMap((frame) => problem(read, frame) ?? [])).toEqual([]);
    expect(frames.length).toBeGreaterThan(20);
  });
});

it('DL125: the readers break where pages do', () => {
  const meta = { id: 1, source: 'agent', message: '', timestamp: '2026-11-21T10:00:00Z' };
  const run = { ...meta, observation: 'run', content: '', extras: { command: 'ls', metadata: { exit_code: 0 } } };
  expect(problem(readAs062, run)).toBeUndefined();
  expect(problem(readAs062, { ...run, extras: { command: 'ls' } })).toContain('exit_code');
  expect(problem(readAs062, { ...run, content: null })).toContain('content');
  expect(problem(readAs025, { ...meta, observation: 'agent_state_changed', extras: { agent_state: 'dreaming' } })).toContain('dreaming');
  expect(problem(readAs09, { observation: 'agent_state_changed', extras: { agent_state: 'rate_limited' } })).toContain('rate_limited');
  expect(problem(readAs03, { observation: 'error', content: '' })).toContain('message');
});
