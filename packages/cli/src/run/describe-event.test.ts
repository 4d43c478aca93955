import type { Event } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { describeEvent } from './describe-event.ts';

const words = (event: object): string[] => describeEvent(event as Event).map(({ tone, text }) => `${tone}: ${text}`);
const edit = (content: string, extras: object) => ({
  observation: 'edit',
  content,
  extras: { path: '/workspace/a', diff: null, ...extras },
});

it('a file counts as changed by its observation', () => {
  expect(words({ source: 'agent', action: 'edit', args: { path: '/workspace/a', command: 'create', thought: 'I write.' } })).toEqual([
    'speech: I write.',
  ]);
  expect(words(edit('done', { prev_exist: false }))).toEqual(['act: Wrote a']);
  const diff = '--- /workspace/a\n+++ /workspace/a\n@@ -1,2 +1,3 @@\n-old\n+new\n+more\n same\n';
  expect(words(edit('done', { prev_exist: true, diff }))).toEqual([
    'act: Edited a +2 −1',
    'removed:     1 - old',
    'added:     1 + new',
    'added:     2 + more',
    'context:     3   same',
  ]);
  expect(words(edit('ERROR:\nIt is not there.', {}))).toEqual(['fault: Could not edit a: It is not there.']);
  expect(words({ observation: 'read', content: 'ERROR:\nNo.', extras: { path: 'x' } })).toEqual(['fault: Could not read x: No.']);
});

it('CK1011: what was restored stands in the story', () => {
  const extras = { checkpoint: 1, what: 'both', from: 3, changed: 1, left: [] };
  expect(words({ observation: 'restore_checkpoint', content: 'The files were restored.', extras })).toEqual([
    'state: The files were restored.',
  ]);
});

it('a search names what was looked for', () => {
  const extras = { path: '.', search: { kind: 'grep', pattern: 'a+b' } };
  expect(words({ observation: 'read', content: '1 matching line', extras })).toEqual(['act: Searched for a+b in .']);
  expect(words({ observation: 'read', content: 'ERROR:\nNothing was searched', extras })).toEqual([
    'fault: Could not search .: Nothing was searched',
  ]);
});

it('a saved plan is shown, a task a line', () => {
  const task_list = [
    { id: '1', title: 'Look', status: 'done', notes: '' },
    { id: '2', title: 'Do', status: 'in_progress', notes: '' },
    { id: '3', title: 'Check', status: 'todo', notes: '' },
  ];
  const action = { source: 'agent', action: 'task_tracking', args: { command: 'plan', task_list, thought: '' } };
  expect(words(action)).toEqual(['act: Plan: 1 of 3 done', 'state:   ✓ Look', 'state:   › Do', 'state:   · Check']);
  expect(words({ ...action, args: { command: 'view', task_list: [], thought: '' } })).toEqual([]);
});

it('a command without an exit code shows why', () => {
  const run = (exit_code: number, suffix: string) => ({
    observation: 'run',
    content: 'out\n',
    extras: { metadata: { exit_code, suffix } },
  });
  expect(words(run(0, '[completed]'))).toEqual(['output: out']);
  expect(words(run(2, '[completed]'))).toEqual(['output: out', 'fault: exit 2']);
  expect(words(run(-1, '\n[no new output]'))).toEqual(['output: out', 'fault: [no new output]']);
});

it('the reason of a failure is shown in words, not by its id', () => {
  const event = {
    observation: 'agent_state_changed',
    content: 'The key was refused.',
    extras: { agent_state: 'error', reason: 'STATUS$X' },
  };
  expect(words(event)).toEqual(['fault: Stopped: The key was refused.']);
});

it('what the user sent, and what only the engine needs, is not shown', () => {
  expect(words({ source: 'user', action: 'message', args: { content: 'hi' } })).toEqual([]);
  expect(words({ source: 'agent', action: 'system', args: { content: 'prompt' } })).toEqual([]);
  expect(words({ unknown: true, raw: {} })).toEqual([]);
});

it('a shortened history has words of its own', () => {
  expect(words({ source: 'agent', action: 'condensation', args: {} })).toEqual(['act: Shortened the history']);
  expect(words({ source: 'agent', action: 'condensation', args: { undoes: 3 } })).toEqual(['act: Lengthened the history']);
});
