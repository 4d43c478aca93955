/** One event of every kind the protocol knows, with as little in it as its schema allows. */
import { ACTIONS, OBSERVATIONS, fromJson, isUnknown, type Event } from '@tendon/protocol';

const ARGS = {
  agent: 'Reviewer',
  agent_state: 'running',
  browser_actions: "click('14')",
  checkpoint: 1,
  code: '1 + 1',
  command: 'ls',
  content: 'text',
  extras: {},
  file_path: '/workspace/a.pdf',
  goal: 'a goal',
  id: '1',
  name: 'docs.search',
  parent: '0',
  path: '/workspace/a.txt',
  query: 'notes',
  state: 'done',
  summary: 'A summary.',
  task: 'a task',
  thought: 'A thought.',
  url: 'https://example.com',
};
const SPECIAL: Readonly<Record<string, object>> = { edit: { command: 'create' }, task_tracking: { command: 'plan' } };

const meta = (id: number) => ({ id, timestamp: '2026-01-01T00:00:00Z', source: 'agent' });
const actions = Object.keys(ACTIONS).map((action) => ({ action, args: { ...ARGS, ...SPECIAL[action] } }));
const observations = Object.keys(OBSERVATIONS).map((observation) => ({
  observation,
  content: 'text',
  extras: { ...ARGS, ...SPECIAL[observation] },
}));

export const EVERY_KIND: readonly Event[] = [...actions, ...observations].map((draft, id) => {
  const event = fromJson({ ...meta(id), ...draft });
  if (isUnknown(event)) throw new Error(`the sample of ${JSON.stringify(draft)} does not fit its schema`);
  return event;
});
