// @vitest-environment happy-dom
import { fromJson, type Event } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { EVERY_KIND } from './every-kind.test-support.ts';
import { untrueOfState, untrueSentences } from './untrue-sentences.test-support.ts';

function script(parts: readonly object[]): readonly Event[] {
  return parts.map((part, id) =>
    fromJson({ id, timestamp: new Date(1_767_225_600_000 + id * 2_000).toISOString(), source: 'agent', ...part }),
  );
}
const state = (agent_state: string, reason = '', content = '') => ({
  source: 'environment',
  observation: 'agent_state_changed',
  content,
  extras: { agent_state, reason },
});
const user = (content: string) => ({ source: 'user', action: 'message', args: { content } });
const noNotes = (id: number) => ({
  source: 'environment',
  observation: 'recall',
  cause: id,
  content: '',
  extras: { recall_type: 'knowledge', microagent_knowledge: [] },
});
const recall = { source: 'user', action: 'recall', args: { recall_type: 'knowledge', query: 'x' } };
const run = (command: string, more = {}) => ({ action: 'run', args: { command, ...more } });
const ran = (cause: number, exit_code: number, content = 'ok', suffix = '') => ({
  observation: 'run',
  cause,
  content,
  success: exit_code === 0,
  extras: { command: '', metadata: { exit_code, suffix } },
});
const read = (path: string) => ({ action: 'read', args: { path } });
const wasRead = (cause: number, content: string) => ({ observation: 'read', cause, content, extras: { path: 'a.py' } });
const edit = { action: 'edit', args: { path: '/workspace/a.py', command: 'str_replace' } };
const edited = (cause: number, content: string, path = '/workspace/a.py') => ({
  observation: 'edit',
  cause,
  content,
  extras: { path, prev_exist: true, old_content: 'a', new_content: content.startsWith('ERROR') ? 'a' : 'b' },
});
const stop = { source: 'user', action: 'change_agent_state', args: { agent_state: 'stopped' } };

/** What went wrong in ordinary use, and what goes wrong on bad days. */
const FAULTS: readonly object[] = [
  state('loading'),
  state('awaiting_user_input'),
  user('build it'), // 2
  state('running'),
  recall, // 4: its empty answer is left out live
  run('cd /workspace/app && npm test'),
  ran(5, 1, '3 failed'),
  read('/workspace/src/a.py'), // 7
  wasRead(7, 'ERROR:\nThere is no file or folder /workspace/src/a.py.'),
  edit, // 9
  edited(9, 'ERROR:\nThe text was not found.'),
  user('and quickly'), // 11
  { ...recall, args: { ...recall.args, query: 'quickly' } },
  noNotes(12),
  edit, // 14
  edited(14, 'The file was edited.'),
  run('sleep 100'), // 16
  ran(16, -1, '', '\n[Nothing new was printed for 10 seconds; the command is still running. You can …]'),
  run('C-c', { is_input: true }), // 18
  ran(18, 130, '^C', '\n[Interrupted by C-c: the command ended with exit code 130.]'),
  run('C-c', { is_input: true }), // 20
  ran(20, -1, 'ERROR: No command is running that could take input.'),
  run('ls'), // 22
  ran(22, -1, '', '\n[Not executed: "ls". An earlier command is still running, and only one can run at a time.]'),
  state('rate_limited', "The model's provider failed: HTTP 500, oops"),
  state('rate_limited', "The model's provider failed: HTTP 500, oops"),
  state('rate_limited', "The model's provider did not answer: connect ECONNREFUSED"),
  state('running'),
  { observation: 'error', content: 'Not finished: the user wrote while you were answering. Take that into account first.', extras: {} },
  { action: 'finish', args: { final_thought: 'Built.', task_completed: 'true' } },
  state('finished'), // 30
  user('now only look'),
  state('running'),
  read('/workspace/README.md'), // 33
  wasRead(33, '# Title\n'),
  { action: 'finish', args: { final_thought: 'It is fine.' } },
  state('finished'),
  user('make it with the shell'),
  state('running'),
  run('git init && touch x'), // 39
  ran(39, 0),
  state('finished'),
  user('count'),
  state('running'),
  run('seq 1 1000000'), // 44
  stop,
  ran(44, 130, '1\n2', '\n[The command was cancelled and ended with exit code 130.]'),
  state('stopped'),
  user('go on'),
  state('running'),
  run('sleep 30'), // 50
  state('paused'),
  ran(50, 0),
  state('running'),
  { observation: 'browse', cause: 50, content: 'refused', extras: { url: 'http://x', error: true } },
  state('error', 'STATUS$ERROR_LLM_AUTHENTICATION', "The model's provider refused the key: HTTP 401, Key expired"),
  user('again'),
  state('running'),
  { action: 'message', args: { content: 'Which of the two?' } },
  state('awaiting_user_input'),
];

it('CL941: at no event of a run with every fault does the page say what its log contradicts', () => {
  expect(untrueSentences(script(FAULTS))).toEqual([]);
});

it('CL941: events of every kind, each alone, say nothing untrue', () => {
  expect(EVERY_KIND.flatMap((event) => untrueSentences([{ ...event, id: 0 }]))).toEqual([]);
});

it.each([
  ['Recalling notes', [state('running'), recall]],
  ['Thinking', [state('running'), run('npm test')]],
  ['Running npm test', [state('running'), run('npm test'), ran(1, 0)]],
  ['Done, nothing changed', [state('running'), run('git init'), ran(1, 0), state('finished')]],
  ['Done, 1 file edited', [state('running'), edit, edited(1, 'ERROR: no'), state('finished')]],
  ['Paused by you', [state('running')]],
])('CL941: the checker finds that "%s" is not so', (text, parts) => {
  expect([...untrueOfState(text, script(parts))]).toHaveLength(1);
});
