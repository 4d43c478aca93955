// What the conversations on the pictures of the screens are about. Those of the fixture server that are not here are shown as they are.
const at = (minutes, seconds = 0) => new Date(Date.UTC(2026, 2, 16, 10, minutes, seconds)).toISOString();

/** `steps`: pairs of an action and its observation, or single events; ids, causes and times follow from the order. */
function story(task, steps) {
  const events = [{ source: 'user', action: 'message', args: { content: task, image_urls: [] } }];
  for (const step of [{ observation: 'agent_state_changed', content: '', extras: { agent_state: 'running' } }, ...steps]) {
    const [action, observation] = Array.isArray(step) ? step : [step];
    events.push(action);
    if (observation) events.push({ ...observation, cause: events.length - 1 });
  }
  return events.map((event, id) => ({ id, source: 'agent', message: '', timestamp: at(30 + Math.floor(id / 4), (id % 4) * 14), ...event }));
}

const says = (content, more = {}) => ({ action: 'message', args: { content, ...more } });
const becomes = (agent_state, reason = '', content = '') => ({
  observation: 'agent_state_changed',
  content,
  extras: { agent_state, reason },
});
const command = (text, more = {}) => ({ action: 'run', args: { command: text, ...more } });
const ran = (text, content, exit_code = 0) => [
  command(text),
  { observation: 'run', content, extras: { command: text, metadata: { exit_code, working_dir: '/workspace' } }, success: exit_code === 0 },
];
const read = (path, content) => [
  { action: 'read', args: { path } },
  { observation: 'read', content, extras: { path } },
];
const edited = (path, old_content, new_content) => [
  { action: 'edit', args: { path, command: old_content === null ? 'create' : 'str_replace' } },
  {
    observation: 'edit',
    content: '',
    extras: { path, prev_exist: old_content !== null, old_content, new_content, impl_source: 'oh_aci', diff: null },
  },
];

const NEXT_NUMBER = `let last = 0;

/** The number of the next invoice. */
export function nextNumber() {
  last += 1;
  return last;
}
`;
const ROUND_OLD = `/** Cents of an amount in another currency. */
export function toCents(amount: number, rate: number): number {
  return Math.floor(amount * rate * 100);
}
`;
const ROUND_NEW = `/** Cents of an amount in another currency, rounded half to even as the bank does. */
export function toCents(amount: number, rate: number): number {
  const exact = amount * rate * 100;
  const down = Math.floor(exact);
  const rest = exact - down;
  if (rest !== 0.5) return Math.round(exact);
  return down % 2 === 0 ? down : down + 1;
}
`;
const TESTS =
  '\u001b[32m✓\u001b[0m round.test.ts      14 tests    38 ms\n\u001b[32m✓\u001b[0m ledger.test.ts     51 tests   402 ms\n\u001b[1m65 passed\u001b[0m, 0 failed';

const METRICS = {
  accumulated_cost: 0.05,
  max_budget_per_task: 5,
  accumulated_token_usage: {
    model: 'openai/gpt-4o',
    prompt_tokens: 48_000,
    completion_tokens: 1_900,
    cache_read_tokens: 31_000,
    cache_write_tokens: 0,
    context_window: 200_000,
    per_turn_token: 12_000,
    response_id: '',
  },
  costs: [],
  response_latencies: [],
  token_usages: [],
};

const STORIES = {
  running: () =>
    story('Move invoice numbering into the database, so that two servers never give the same number', [
      says('I look for the place that gives numbers today.'),
      ran(
        'rg -n "nextNumber" packages',
        'packages/billing/src/next-number.ts:4\npackages/billing/src/issue.ts:17\npackages/billing/src/issue.ts:52',
      ),
      read('packages/billing/src/next-number.ts', NEXT_NUMBER),
      ran('psql -c "select max(number) from invoices"', ' max\n------\n 4812\n(1 row)'),
    ]),
  export: () =>
    story('Why does the nightly export take four hours?', [
      says('I read the log of last night first, then the slowest query.'),
      ran('grep -c "fetch page" logs/export-2026-03-15.log', '48112'),
      ran(
        "psql -c 'explain analyze select * from movements order by booked_at offset 4800000 limit 100'",
        'Sort  (cost=812044.10..824120.33)\n  Sort Method: external merge  Disk: 391040kB\nExecution Time: 2911.482 ms',
      ),
      says(
        'It reads 48,112 pages with `offset`, and each sorts the whole table again: **2.9 s a page near the end**.\n\nTwo ways end that. An index on `booked_at` needs 400 MB and a lock of about a minute; reading by key needs no index, but the export then comes in another order. Which of the two should I take?',
        { wait_for_response: true, choices: ['The index, tonight at 3', 'Reading by key'] },
      ),
      becomes('awaiting_user_input'),
    ]),
  refused: () =>
    story('Sum the ledger of May', [
      becomes('error', 'STATUS$ERROR_LLM_AUTHENTICATION', "The model's provider refused the key: HTTP 401, Incorrect API key provided"),
    ]),
  rounding: () =>
    story('Amounts in other currencies are a cent too low. Find out why and fix it.', [
      says('I run the tests, then look at where currencies are converted.'),
      ran('npm test', 'round.test.ts: expected 1235, received 1234\n13 passed, 1 failed', 1),
      read('packages/ledger/src/round.ts', ROUND_OLD),
      says('`toCents` cuts off. The bank rounds half to even, and so do its statements.'),
      edited('/workspace/packages/ledger/src/round.ts', ROUND_OLD, ROUND_NEW),
      ran('npm test', TESTS),
      {
        action: 'finish',
        args: {
          final_thought: '`toCents` cut amounts off; it now rounds half to even, as the bank’s statements do. All 65 tests pass.',
          task_completed: 'true',
          outputs: {},
        },
        llm_metrics: METRICS,
      },
      becomes('finished'),
    ]),
};

const FILES = {
  running: {},
  export: {},
  refused: {},
  rounding: { 'packages/ledger/src/round.ts': { status: 'M', original: ROUND_OLD, modified: ROUND_NEW, added: 6, removed: 2 } },
  twice: { 'samples/comma.csv': { status: 'D', original: 'a,b\n1,2\n', modified: null, added: 0, removed: 2 } },
};

/** The events of a conversation; `otherwise` has those of all that have no story here. */
export const storyOf = (id, otherwise) => (Object.hasOwn(STORIES, id) ? STORIES[id]() : otherwise(id));

/** What its agent changed; nothing for conversations without a story. */
export const filesOf = (id) => FILES[id];
