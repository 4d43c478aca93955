// Conversations as on the pictures of the design: realistic events for looking at.
const at = (minutes, seconds = 0) => new Date(new Date().setHours(10, minutes, seconds, 0)).toISOString();
const days = (n) => new Date(Date.now() - n * 86_400_000).toISOString();

const info = (conversation_id, title, selected_repository, agent_state, accumulated_cost, last_updated_at, reason = '') => ({
  conversation_id,
  title,
  selected_repository,
  selected_branch: selected_repository && 'fix/csv-semicolon',
  agent_state,
  reason,
  accumulated_cost,
  unpriced_tokens: 0,
  answered_by: accumulated_cost > 0 ? 'openai/gpt-4o' : null,
  last_updated_at,
  created_at: last_updated_at,
  status: 'RUNNING',
  runtime_status: 'STATUS$READY',
  url: null,
  session_api_key: null,
});

export const CONVERSATIONS = [
  info('ledger', 'Accept semicolon-separated CSV files', 'harbor/ledger', 'awaiting_user_confirmation', 0.42, new Date().toISOString()),
  info(
    'export',
    'Why does the nightly export take four hours?',
    'harbor/warehouse',
    'awaiting_user_input',
    0.31,
    new Date(Date.now() - 38 * 60_000).toISOString(),
  ),
  info(
    'running',
    'Move invoice numbering into the database',
    'harbor/ledger',
    'running',
    1.18,
    new Date(Date.now() - 2 * 60_000).toISOString(),
  ),
  info(
    'long',
    'Replace moment with Temporal in the date picker',
    'harbor/web',
    'finished',
    2.06,
    new Date(Date.now() - 3 * 3_600_000).toISOString(),
  ),
  info('failed', 'Upgrade the container base image', 'harbor/infra', 'error', 0.09, days(1), 'no disk space left'),
  info('paused', 'Draft the release notes for 4.2', 'harbor/ledger', 'paused', 0.12, days(1)),
  info('kinds', 'Find the flaky test in the sync suite', 'harbor/sync', 'finished', 0.77, days(3)),
  {
    ...info('done', 'Explain how the ledger rounds currencies', 'harbor/ledger', 'finished', 0.05, days(4)),
    forked_from: { conversation_id: 'kinds', event_id: 3 },
  },
];

const OLD = `import { parse } from "csv-parse/sync";
import { toRow, type Row } from "./row.ts";

/** Rows of a CSV text; the first line names the columns. */
export function readCsv(text: string, opts: CsvOptions = {}): Row[] {
  const records = parse(text, { delimiter: ",", columns: true });
  return records.map(toRow);
}
`;
const NEW = `import { parse } from "csv-parse/sync";
import { sniffDelimiter } from "./sniff-delimiter.ts";
import { toRow, type Row } from "./row.ts";

/** Rows of a CSV text; the first line names the columns. */
export function readCsv(text: string, opts: CsvOptions = {}): Row[] {
  const delimiter = opts.delimiter ?? sniffDelimiter(text);
  const records = parse(text, {
    delimiter,
    columns: true,
    bom: true,
  });
  return records.map(toRow);
}
`;
const SNIFF = `const candidates = [",", ";", "\\t"] as const;
export type Delimiter = (typeof candidates)[number];

/** Splits the first lines most evenly; else a comma. */
export function sniffDelimiter(text: string): Delimiter {
  const lines = text.split(/\\r?\\n/, 10).filter(Boolean);
  let best: { delimiter: Delimiter; score: number } = comma;
  for (const delimiter of candidates) {
    const counts = lines.map((l) => outsideQuotes(l, delimiter));
    const score = Math.min(...counts);
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}
`;
const CHART = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 264 150"><rect width="264" height="150" fill="#fff"/><g font-family="Verdana" font-size="9" fill="#333"><text x="12" y="18">Files imported without error</text><text x="12" y="47">comma</text><text x="12" y="79">semicolon</text><text x="12" y="111">tab</text><g fill="#17748a"><rect x="68" y="36" width="166" height="14"/><rect x="68" y="68" width="53" height="14"/><rect x="68" y="100" width="17" height="14"/></g></g></svg>')}`;
const PAGE = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 264 150"><rect width="264" height="150" fill="#fdfdfc"/><rect width="264" height="20" fill="#20372f"/><text x="12" y="13" fill="#fff" font-family="Verdana" font-size="8.5" font-weight="700">Ledger</text><text x="12" y="36" font-family="Verdana" font-size="10" font-weight="700">Import transactions</text><rect x="12" y="44" width="150" height="15" rx="2" fill="#fff" stroke="#b3261e"/><text x="17" y="54" font-size="7.5" font-family="Verdana">umsatz-2025-03.csv</text><path d="M12 78h240M12 91h240M12 104h240M12 117h240" stroke="#e4e4e0"/><rect x="12" y="126" width="76" height="16" rx="2" fill="#2b6a55"/><text x="50" y="136.6" text-anchor="middle" fill="#fff" font-size="7.5" font-family="Verdana">Import 312 rows</text></svg>')}`;

const metrics = {
  accumulated_cost: 0.42,
  max_budget_per_task: 5,
  accumulated_token_usage: {
    model: 'openai/gpt-4o',
    prompt_tokens: 610_000,
    completion_tokens: 9_000,
    cache_read_tokens: 61_000,
    cache_write_tokens: 0,
    context_window: 200_000,
    per_turn_token: 82_000,
    response_id: '',
  },
  costs: [],
  response_latencies: [],
  token_usages: [],
};

function script(steps) {
  let id = 0;
  const events = [];
  for (const { when, ...event } of steps)
    events.push({ id: id++, timestamp: when ?? events.at(-1)?.timestamp, source: 'agent', message: '', ...event });
  return events;
}
const act = (when, action, args, more = {}) => ({ when, action, args: { thought: '', ...args }, ...more });
const obs = (when, cause, observation, content, extras, more = {}) => ({ when, cause, observation, content, extras, ...more });
const state = (when, agent_state, reason = '', content = '') =>
  obs(when, undefined, 'agent_state_changed', content, { agent_state, reason });
const ran = (when, cause, command, content, exit_code = 0) =>
  obs(
    when,
    cause,
    'run',
    content,
    { command, metadata: { exit_code, working_dir: '/workspace' }, hidden: false },
    { success: exit_code === 0 },
  );

const TASK = 'Make the CSV importer accept semicolon-separated files';
const PUSH = 'git push --set-upstream origin fix/csv-semicolon';
const ledger = () =>
  script([
    { when: at(38), source: 'user', action: 'message', args: { content: TASK, image_urls: [] } },
    { when: at(38, 1), source: 'user', action: 'recall', args: { recall_type: 'workspace_context', query: TASK } },
    obs(at(38, 1), 1, 'recall', '', {
      recall_type: 'workspace_context',
      repo_name: 'harbor/ledger',
      repo_instructions: 'Tests run with npm test -w packages/import.',
      microagent_knowledge: [{ name: 'import', trigger: 'import', content: 'Samples are in samples/.' }],
    }),
    state(at(38, 1), 'running'),
    act(at(38, 4), 'message', { content: 'I will look at how the importer reads files today, then at the samples that fail.' }),
    act(at(38, 6), 'read', { path: 'packages/import/src/read-csv.ts' }),
    obs(at(38, 6), 5, 'read', OLD, { path: 'packages/import/src/read-csv.ts' }),
    act(at(38, 10), 'run', { command: "rg -c ';' samples | wc -l" }),
    ran(at(38, 10), 7, "rg -c ';' samples | wc -l", '48'),
    act(at(40, 1), 'think', {
      thought: 'The samples that fail share nothing but the semicolon. A detector over the first lines is enough.',
    }),
    obs(at(40, 1), 9, 'think', 'Your thought has been logged.', {}),
    act(at(40, 10), 'message', {
      content:
        '48 of 214 samples use semicolons, and all of those fail on line 1. I will detect the delimiter from the first lines and keep the comma when in doubt.',
    }),
    act(at(41), 'edit', { path: 'packages/import/src/sniff-delimiter.ts', command: 'create', file_text: SNIFF }),
    obs(at(41), 12, 'edit', '', {
      path: 'packages/import/src/sniff-delimiter.ts',
      prev_exist: false,
      old_content: null,
      new_content: SNIFF,
      impl_source: 'oh_aci',
      diff: null,
    }),
    act(at(41, 9), 'edit', { path: 'packages/import/src/read-csv.ts', command: 'str_replace' }),
    obs(at(41, 9), 14, 'edit', '', {
      path: 'packages/import/src/read-csv.ts',
      prev_exist: true,
      old_content: OLD,
      new_content: NEW,
      impl_source: 'oh_aci',
      diff: null,
    }),
    act(at(41, 20), 'run', { command: 'npm test -w packages/import' }, { llm_metrics: metrics }),
    ran(
      at(41, 23, 100),
      16,
      'npm test -w packages/import',
      '\u001b[32m✓\u001b[0m read-csv.test.ts           18 tests   212 ms\n\u001b[32m✓\u001b[0m sniff-delimiter.test.ts     9 tests    41 ms\n\u001b[32m✓\u001b[0m amount.test.ts             12 tests    57 ms\n\u001b[1m39 passed\u001b[0m, 0 failed',
    ),
    act(at(42), 'run_ipython', { code: 'imports_ok = check_all("samples")\nimports_ok.plot.barh()' }),
    obs(
      at(42, 1),
      18,
      'run_ipython',
      'All 214 samples import.\nBefore, none of the 48 with semicolons did.',
      { code: '', image_urls: [CHART] },
      { success: true },
    ),
    act(at(42, 20), 'browse', { url: 'http://localhost:5173/import' }),
    obs(at(42, 21), 20, 'browse', 'Chose umsatz-2025-03.csv\n312 rows found. 4 elements can be used.', {
      url: 'http://localhost:5173/import',
      screenshot: PAGE,
      error: false,
    }),
    act(at(43), 'task_tracking', {
      command: 'plan',
      task_list: [
        'Find out why the samples fail',
        'Detect the delimiter from the first lines',
        'Read amounts with a decimal comma',
        'Cover both with tests',
        'Push the branch',
      ].map((title, i) => ({ id: String(i), title, status: i < 4 ? 'done' : 'in_progress', notes: '' })),
    }),
    obs(at(43), 22, 'task_tracking', '', { command: 'plan', task_list: [] }),
    act(at(44, 2), 'run', { command: PUSH, confirmation_state: 'awaiting_confirmation', security_risk: 1 }),
    state(at(44, 2), 'awaiting_user_confirmation'),
  ]);

const kinds = () =>
  script([
    { when: at(38), source: 'user', action: 'message', args: { content: 'Find the flaky test in the sync suite', image_urls: [] } },
    state(at(38), 'running'),
    act(at(38, 20), 'run', {
      command: 'for i in 1 2 3; do npm test -w sync; done',
      thought: 'I will run the suite a few times and compare the failures.',
    }),
    ran(
      at(39),
      2,
      'for i in 1 2 3; do npm test -w sync; done',
      Array.from({ length: 40 }, (_, i) => `ok ${i + 1} keeps order under load (${i * 3} ms)`).join('\n') +
        '\n\u001b[31mnot ok 41 resolves in order\u001b[0m',
      1,
    ),
    act(at(40), 'write', { path: '/workspace/notes.md', content: '# Flaky\n\nresolves in order\n' }),
    obs(at(40), 4, 'write', '', { path: '/workspace/notes.md' }),
    act(at(40, 9), 'call_tool_mcp', { name: 'docs.search', arguments: { query: 'vitest sequence' } }),
    obs(at(40, 9), 6, 'mcp', '{"hits": 3}', { name: 'docs.search', arguments: {} }),
    { when: at(40, 20), action: 'workspace_snapshot', args: { files: 812 } },
    act(at(40, 20), 'condensation', {
      forgotten_event_ids: Array.from({ length: 84 }, (_, i) => i),
      summary: 'The suite was run three times.',
    }),
    obs(at(40, 30), undefined, 'error', 'The model’s answer broke off. The connection to api.openai.com closed after 12 s.', {
      error_id: 'STATUS$ERROR_LLM_SERVICE_UNAVAILABLE',
    }),
    act(at(41), 'browse_interactive', { browser_actions: "click('14')" }),
    obs(at(41), 11, 'browse', '', {
      url: 'http://localhost:5173/import',
      screenshot: PAGE,
      error: false,
      last_browser_action: "click('14')",
    }),
    act(at(41), 'delegate', { agent: 'Reviewer', inputs: { task: 'look for files this would break' } }),
    obs(at(41, 48), 13, 'delegate', 'found one risk, decimal commas, now tested', { outputs: {} }),
    obs(at(42), undefined, 'user_rejected', 'Not on a Friday', {}),
    obs(at(42), undefined, 'success', 'The branch was pushed', {}),
    act(
      at(43),
      'finish',
      {
        final_thought: 'The test races with the clock. It waits for the **event** now.',
        task_completed: 'true',
        outputs: { content: 'sync.test.ts line 41' },
      },
      { llm_metrics: { ...metrics, accumulated_cost: 0.77 } },
    ),
    state(at(43), 'finished'),
  ]);

/** About a hundred events a turn. */
export const longHistory = (turns) => {
  const steps = [];
  for (let turn = 0; turn < turns; turn += 1) {
    steps.push({ when: at(turn % 60), source: 'user', action: 'message', args: { content: `Part ${turn + 1} of the date picker` } });
    for (let step = 0; step < 49; step += 1) {
      const cause = steps.length;
      steps.push(act(at(turn % 60, step), 'run', { command: `npm test -- part-${turn}-${step}` }));
      steps.push(ran(at(turn % 60, step), cause, '', `line of ${turn}/${step}`, step === 17 ? 1 : 0));
    }
    steps.push(act(at(turn % 60, 59), 'message', { content: `Part ${turn + 1} is done.` }));
  }
  steps.push(act(at(59), 'finish', { final_thought: 'All parts are done.', outputs: {} }), state(at(59), 'finished'));
  return script(steps);
};

const simple =
  (agent_state, reason = '', content = '') =>
  () =>
    script([
      { when: at(38), source: 'user', action: 'message', args: { content: 'A task', image_urls: [] } },
      act(at(38, 4), 'message', {
        content: 'Which of the two should I take?',
        wait_for_response: agent_state === 'awaiting_user_input',
        ...(agent_state === 'awaiting_user_input' && { choices: ['The index', 'The smaller batches'] }),
      }),
      act(at(38, 9), 'run', { command: 'npm test' }),
      ran(at(38, 12), 2, 'npm test', '39 passed'),
      state(at(39), agent_state, reason, content),
    ]);

const twice = () =>
  script([
    { when: at(38), source: 'user', action: 'message', args: { content: 'Read the samples', image_urls: [] } },
    act(at(38, 9), 'run', { command: 'ls samples' }),
    ran(at(38, 12), 1, 'ls samples', 'comma.csv'),
    act(at(38, 14), 'message', { content: 'There is one.' }),
    { when: at(39), source: 'user', action: 'message', args: { content: 'Remove it', image_urls: [] } },
    act(at(39, 9), 'run', { command: 'rm samples/comma.csv' }),
    ran(at(39, 12), 5, 'rm samples/comma.csv', ''),
    state(at(39, 20), 'finished'),
  ]);

/** Of a release whose answers had their cost alone. */
const imported = () =>
  script([
    { when: at(38), source: 'user', action: 'message', args: { content: 'Count the samples', image_urls: [] } },
    act(at(38, 9), 'finish', { final_thought: 'There are 214.', outputs: {} }, { llm_metrics: { accumulated_cost: 0.3 } }),
    state(at(38, 20), 'finished'),
  ]);

const SCRIPTS = {
  imported,
  twice,
  ledger,
  kinds,
  long: () => longHistory(100),
  export: simple('awaiting_user_input'),
  running: simple('running'),
  failed: simple('error', 'OSError: no disk space left'),
  refused: simple('error', 'STATUS$ERROR_LLM_AUTHENTICATION', "The model's provider refused the key: HTTP 401, Key expired"),
  paused: simple('paused'),
  done: simple('finished'),
};

/** Found by its address alone. */
export const UNLISTED = [
  info('imported', 'Count the samples', null, 'finished', 0.3, days(0)),
  info('refused', 'Sum the ledger of May', 'harbor/ledger', 'error', 0, days(0), 'STATUS$ERROR_LLM_AUTHENTICATION'),
  info('twice', 'Tidy the samples', 'harbor/ledger', 'finished', 0.02, days(0)),
];

export const eventsOf = (id) => (SCRIPTS[id] ?? SCRIPTS.done)();
