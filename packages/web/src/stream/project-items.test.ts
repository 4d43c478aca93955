// @vitest-environment happy-dom
import { type Event, fromJson } from '@tendon/protocol';
import { describe, expect, it } from 'vitest';
import { EVERY_KIND } from './every-kind.test-support.ts';
import { hasNewerFailure, repeatsFailure } from './failures.ts';
import { foldWords } from './fold-row.tsx';
import { foldTurns } from './fold-turns.ts';
import { projectItems, StreamProjection } from './project-items.ts';
import type { FoldItem, StepItem, StreamItem } from './stream-item.ts';

function events(...parts: readonly object[]): readonly Event[] {
  return parts.map((part, id) => fromJson({ id, timestamp: `2026-01-01T00:00:${String(id).padStart(2, '0')}Z`, source: 'agent', ...part }));
}
const run = (command: string) => ({ action: 'run', args: { command } });
const ran = (cause: number, exit_code = 0) => ({
  observation: 'run',
  cause,
  content: 'ok',
  extras: { command: '', metadata: { exit_code } },
});
const userMessage = (content: string) => ({ source: 'user', action: 'message', args: { content } });
const state = (agent_state: string, reason = '') => ({ observation: 'agent_state_changed', content: '', extras: { agent_state, reason } });

describe('rows of a conversation', () => {
  it('CL21: an action and the observation that names it are one step, whatever came between', () => {
    const items = projectItems(events(run('a'), { observation: 'think', content: 'x', extras: {} }, ran(0)));
    expect(items[0]).toMatchObject({ type: 'step', action: { id: 0 }, observation: { id: 2 } });
    expect(items).toHaveLength(2);
  });

  it('CL21: a second observation of the same action is a step of its own', () => {
    expect(projectItems(events(run('a'), ran(0), ran(0)))).toHaveLength(2);
  });

  it('CL21: an action that waited for a decision and comes again is still one step', () => {
    const args = { command: 'rm -rf build', confirmation_state: 'awaiting_confirmation' };
    const decided = { ...args, confirmation_state: 'confirmed' };
    const items = projectItems(events({ action: 'run', args }, { action: 'run', args: decided }, ran(1)));
    expect(items).toMatchObject([{ type: 'step', id: 0, wasAsked: true, action: { id: 1 }, observation: { id: 2 } }]);
  });

  it('the text that comes with an action is shown before it', () => {
    const items = projectItems(events({ action: 'run', args: { command: 'ls', thought: 'I will look.' } }));
    expect(items.map((item) => item.type)).toEqual(['speech', 'step']);
  });

  it('messages of the user and tasks are turns; the agent speaks in prose', () => {
    const items = projectItems(
      events(
        userMessage('do it'),
        { action: 'message', args: { content: 'yes' } },
        { source: 'user', action: 'start', args: { task: 'x' } },
      ),
    );
    expect(items.map((item) => item.type)).toEqual(['turn', 'speech', 'turn']);
  });

  it('pausing and stopping are lines, repeats are one, going on is none', () => {
    const twice = events(state('paused'), state('running'), state('stopped'));
    expect(projectItems(twice)).toMatchObject([
      { type: 'note', text: 'Paused by you' },
      { type: 'note', text: 'Stopped by you' },
    ]);
    const same = [0, 1].map((id) => fromJson({ id, timestamp: '2026-01-01T00:00:00.000Z', source: 'agent', ...state('paused') }));
    expect(projectItems(same)).toHaveLength(1);
  });

  it('CL941: pauses of the provider in a row are one row that counts', () => {
    const items = projectItems(
      events(state('rate_limited', 'a'), state('rate_limited', 'b'), state('running'), state('rate_limited', 'c')),
    );
    expect(items).toMatchObject([{ type: 'step', id: 0, attempts: 3, observation: { extras: { reason: 'c' } } }]);
  });

  it('CL941: what a person ended was stopped by them, and no sentence to the model is a row of theirs', () => {
    const stop = { source: 'user', action: 'change_agent_state', args: { agent_state: 'stopped' } };
    const words = 'Not finished: the user wrote while you were answering. Take that into account first.';
    const items = projectItems(events(run('sleep 9'), stop, ran(0, 130), { observation: 'error', content: words, extras: {} }));
    expect(items).toMatchObject([
      { type: 'step', wasStopped: true },
      { type: 'note', text: 'Your message came in between; the agent goes on with that' },
    ]);
  });

  it('an error state with the words of the error before it is shown once', () => {
    expect(projectItems(events({ observation: 'error', content: 'no disk', extras: {} }, state('error', 'no disk')))).toHaveLength(1);
    expect(projectItems(events(state('error', 'no disk')))).toHaveLength(1);
  });

  it('CL20: every kind that the protocol knows is read', () => {
    const items = projectItems(EVERY_KIND.map((event, id) => ({ ...event, id })));
    expect(items.length).toBeGreaterThan(30);
    expect(new Set(items.map((item) => item.key)).size).toBe(items.length);
  });
});

describe('turns that are over', () => {
  const long = [
    userMessage('do it'),
    ...Array.from({ length: 8 }, (_, index) => [run(`c${index}`), ran(1 + index * 2, index === 3 ? 1 : 0)]).flat(),
  ];

  const types = (items: readonly StreamItem[]) => items.map(({ type }) => type);
  const folded = (...parts: readonly object[]) => foldTurns(projectItems(events(...parts)), true);

  it('CL1345: steps are one row; the newest failure and the last two stay', () => {
    const items = folded(...long);
    expect(types(items)).toEqual(['turn', 'fold', 'step', 'step', 'step', 'step', 'step']);
    expect(items[2]).toMatchObject({ action: { args: { command: 'c3' } } });
    const plain = folded(...long.map((part) => ('observation' in part ? ran((part as { cause: number }).cause) : part)));
    expect(types(plain)).toEqual(['turn', 'fold', 'step', 'step']);
    expect(foldWords((plain[1] as FoldItem).rows.filter((row) => row.type === 'step'))).toBe('ran 6 commands');
  });

  it('CL1345: the agent’s words before its steps are folded with them, earlier failures too; its last words stay', () => {
    const say = (content: string) => ({ action: 'message', args: { content } });
    const steps = Array.from({ length: 6 }, (_, index) => {
      const thought = { ...run(`c${index}`), args: { command: `c${index}`, thought: `Step ${index}.` } };
      return [thought, ran(1 + index * 2, index < 4 ? 7 : 0)];
    }).flat();
    const items = folded(userMessage('do it'), ...steps, say('It is done.'));
    expect(types(items)).toEqual(['turn', 'fold', 'speech', 'step', 'speech', 'step', 'speech', 'step', 'speech']);
    expect((items[1] as FoldItem).rows.map(({ type }) => type)).toEqual(['speech', 'step', 'speech', 'step', 'speech', 'step']);
    expect(items[3]).toMatchObject({ action: { args: { command: 'c3' } } });
    expect(items.at(-1)).toMatchObject({ text: 'It is done.' });
  });

  it('CL1345: the agent’s last words, rejections, errors and the end are never folded', () => {
    const quiet = [0, 1, 2].flatMap((index) => [run(`q${index}`), ran(8 + index * 2)]);
    const items = folded(
      userMessage('do it'),
      ...[run('a'), ran(1), run('b'), { observation: 'user_rejected', cause: 3, content: 'no', extras: {} }],
      { observation: 'error', content: 'no disk', extras: {} },
      run('c'),
      { action: 'message', args: { content: 'The port is 80.' } },
      ...quiet,
      ...[run('y'), ran(14), run('z'), ran(16), { action: 'finish', args: { final_thought: 'ok', outputs: {} } }],
    );
    const rows = ['turn', 'step', 'step', 'step', 'step', 'speech', 'fold', 'step', 'step', 'step'];
    expect(types(items)).toEqual(rows);
    expect((items[6] as FoldItem).rows).toHaveLength(3);
  });

  it('CL1344: of a turn, failures before the newest one are known, and those with the output of the one before them', () => {
    const items = projectItems(
      events(
        ...[userMessage('do it'), run('a'), ran(1, 7), run('b'), ran(3), run('c'), ran(5, 7), run('d'), ran(7, 8)],
        ...[userMessage('more'), run('e'), ran(10, 8)],
      ),
    );
    const commands = (accepts: typeof hasNewerFailure) =>
      items.flatMap((item, index) => (accepts(items, index) ? [(item as StepItem).action?.args] : []));
    expect(commands(hasNewerFailure)).toMatchObject([{ command: 'a' }, { command: 'c' }]);
    expect(commands(repeatsFailure)).toMatchObject([{ command: 'c' }]);
  });

  it('the turn that is at work is not folded, those before it are', () => {
    const shown = (isOver: boolean) =>
      foldTurns(projectItems(events(...long.slice(0, 5), userMessage('more'), run('x'))), isOver).map((item) => item.type);
    expect(shown(false)).not.toContain('fold');
  });

  it('CL1003: rows of a growing conversation are those of the whole, and what an event does not concern is not made again', () => {
    const asked = { action: 'run', args: { command: 'rm x', confirmation_state: 'awaiting_confirmation' } };
    const late = [userMessage('more'), ran(1), asked, { ...asked, args: { ...asked.args, confirmation_state: 'confirmed' } }, ran(20)];
    const all = events(...long, ...late, state('paused'), run('last'));
    const [projection, none] = [new StreamProjection(), [] as const];
    let before: readonly StreamItem[] = [];
    for (let length = 1; length <= all.length; length += 1) {
      const isOver = length % 3 === 0;
      const items = projection.items(all.slice(0, length), none, isOver);
      expect(items).toEqual(foldTurns(projectItems(all.slice(0, length)), isOver));
      const turn = items.findLastIndex((item) => item.type === 'turn');
      const settled = length > 19 ? items.slice(0, turn) : [];
      expect(settled.filter((item, index) => item !== before[index])).toEqual([]);
      before = items;
    }
  });

  it('CL1002: missing events are one row where they are missing, and none above the first', () => {
    const some = [...events(...long)].filter(({ id }) => id > 3 && (id < 6 || id > 11));
    const gaps = [
      { from: 0, to: 4 },
      { from: 6, to: 12 },
    ];
    const items = new StreamProjection().items(some, gaps, false);
    expect(items.flatMap((item) => (item.type === 'gap' ? [[item.from, item.to]] : []))).toEqual([[6, 12]]);
    expect(items.at(-1)).toMatchObject({ type: 'step' });
  });
});
