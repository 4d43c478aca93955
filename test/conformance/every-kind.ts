import {
  ACTIONS,
  OBSERVATIONS,
  type Action,
  type ActionKind,
  type Event,
  type EventSource,
  type Observation,
  type ObservationKind,
} from '@tendon/protocol';

/**
 * One event of every kind, and several where a kind has optional parts. A new kind does not compile until it has a sample here.
 * Drives the tests of the dialects and of the web app's cards.
 */
type ActionSamples = { readonly [K in ActionKind]: readonly Parameters<(typeof ACTIONS)[K]['create']>[0][] };
type ObservationSamples = {
  readonly [K in ObservationKind]: readonly (readonly [content: string, extras: Parameters<(typeof OBSERVATIONS)[K]['create']>[1]])[];
};

const TASKS = [
  { id: '1', title: 'Read the failing test', status: 'done', notes: '' },
  { id: '2', title: 'Fix it', status: 'in_progress', notes: 'off by one' },
];
const PIXEL = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=';

const ACTION_SAMPLES: ActionSamples = {
  null: [{}],
  initialize: [{}, { model: 'gpt-4o', directory: '/projects/one', agent_cls: 'CodeActAgent' }],
  start: [{ task: 'write a bash script that prints hello' }],
  pause: [{}],
  resume: [{}],
  stop: [{}],
  push: [{ owner: 'octo', repo: 'hello', branch: 'fix' }],
  send_pr: [{ owner: 'octo', repo: 'hello', title: 'Fix the sum', body: 'It was off by one.' }],
  call_tool_mcp: [{ name: 'fetch', arguments: { url: 'https://example.com' }, thought: 'I need the page.' }],
  run: [
    { command: 'ls -la' },
    { command: 'make test', thought: 'Run the tests first.', blocking: true, cwd: '/workspace', security_risk: 1 },
    { command: 'y', is_input: true },
    { command: 'python3 -m http.server', background: true },
    { command: 'rm -rf build', confirmation_state: 'awaiting_confirmation', security_risk: 2 },
    { command: 'git status', hidden: true, is_static: true },
  ],
  kill: [{ id: '3' }],
  run_ipython: [
    { code: 'print(1 + 1)' },
    { code: '1 / 0', thought: 'See it fail.', kernel_init_code: 'import math', include_extra: false },
  ],
  read: [
    { path: '/workspace/a.txt' },
    { path: '/workspace/a.txt', start: 2, end: 5, impl_source: 'oh_aci', view_range: [3, 5], thought: 'The middle.' },
  ],
  write: [{ path: '/workspace/a.txt', content: 'hello\n' }],
  edit: [
    { path: '/workspace/a.py', command: 'create', file_text: 'print(1)\n' },
    { path: '/workspace/a.py', command: 'str_replace', old_str: 'print(1)', new_str: 'print(2)', thought: 'Two, not one.' },
    { path: '/workspace/a.py', command: 'insert', insert_line: 0, new_str: '# first\n' },
    { path: '/workspace/a.py', command: 'view' },
    { path: '/workspace/a.py', command: 'undo_edit' },
    { path: '/workspace/a.py', content: 'print(3)', start: 1, end: 1, impl_source: 'llm_based_edit' },
  ],
  browse: [{ url: 'https://example.com' }],
  browse_interactive: [{ browser_actions: "click('12')", browsergym_send_msg_to_user: 'I clicked it.', return_axtree: true }],
  message: [
    { content: 'Done, see `a.py`.' },
    { content: 'Which file?', wait_for_response: true },
    { content: 'Like this', image_urls: [PIXEL] },
  ],
  system: [
    { content: 'You are a careful engineer.', tools: [{ type: 'function' }], openhands_version: '0.62.0', agent_class: 'CodeActAgent' },
  ],
  change_agent_state: [{ agent_state: 'paused' }, { agent_state: 'stopped', thought: 'Enough for today.' }],
  think: [{ thought: 'The sum starts at one, it must start at zero.' }],
  finish: [{}, { final_thought: 'The script prints hello.', outputs: { content: 'hello' }, thought: 'All green.', task_completed: 'true' }],
  reject: [{}, { outputs: { reason: 'The repository is private.' }, thought: 'I cannot clone it.' }],
  delegate: [{ agent: 'BrowsingAgent', inputs: { task: 'find the release notes' }, thought: 'It browses better.' }],
  recall: [
    { recall_type: 'workspace_context', query: 'write a bash script' },
    { recall_type: 'knowledge', query: 'docker' },
  ],
  summarize: [{ summary: 'Wrote hello.sh and ran it.' }],
  condensation: [
    { forgotten_event_ids: [3, 4], summary: 'Looked around.', summary_offset: 2 },
    { forgotten_events_start_id: 3, forgotten_events_end_id: 9 },
  ],
  condensation_request: [{}],
  task_tracking: [{ command: 'plan', task_list: TASKS }, { command: 'view' }],
  loop_recovery: [{ option: 2 }],
  restore_checkpoint: [{ checkpoint: 2 }, { checkpoint: 2, what: 'both', from: 7 }],
  add_task: [{ parent: '0', goal: 'find the bug', subtasks: [] }],
  modify_task: [{ id: '0.1', state: 'completed' }],
};

const METADATA = {
  exit_code: 0,
  pid: 4711,
  username: 'tendon',
  hostname: 'sandbox',
  working_dir: '/workspace',
  py_interpreter_path: '/usr/bin/python3',
  suffix: '\n[The command completed with exit code 0.]',
};

const OBSERVATION_SAMPLES: ObservationSamples = {
  null: [['', {}]],
  run: [
    ['total 0\n', { command: 'ls -la', metadata: METADATA }],
    ['', { command: 'sleep 100' }],
    ['make: *** [test] Error 2', { command: 'make test', metadata: { ...METADATA, exit_code: 2 } }],
    ['secret plumbing', { command: 'git status', metadata: METADATA, hidden: true }],
    ['x'.repeat(40_000), { command: 'yes', metadata: METADATA }],
  ],
  run_ipython: [
    ['2', { code: 'print(1 + 1)' }],
    ['', { code: 'plt.show()', image_urls: [PIXEL] }],
  ],
  read: [['hello\n', { path: '/workspace/a.txt' }]],
  write: [['', { path: '/workspace/a.txt' }]],
  edit: [
    [
      'The file was edited.',
      { path: '/workspace/a.py', prev_exist: true, old_content: 'print(1)\n', new_content: 'print(2)\n', diff: '-print(1)\n+print(2)\n' },
    ],
    ['', { path: '/workspace/a.py', impl_source: 'llm_based_edit' }],
  ],
  download: [['', { file_path: '/workspace/notes.pdf' }]],
  browse: [
    [
      '<html></html>',
      { url: 'https://example.com', trigger_by_action: 'browse', screenshot: PIXEL, open_pages_urls: ['https://example.com'] },
    ],
    ['', { url: 'https://example.com', error: true, last_browser_action_error: 'no such element' }],
  ],
  chat: [['please hurry', {}]],
  message: [['noted', {}]],
  agent_state_changed: [
    ['', { agent_state: 'running' }],
    ['', { agent_state: 'error', reason: 'STATUS$ERROR_LLM_AUTHENTICATION' }],
    ['', { agent_state: 'rate_limited', reason: 'asked for a pause', resumes_at: '2026-11-21T10:00:30.000Z' }],
  ],
  think: [['Your thought has been logged.', {}]],
  condense: [['The first half was condensed.', {}]],
  delegate: [['It found the notes.', { outputs: { content: 'v2 is out' } }]],
  recall: [
    [
      'Recalled the workspace.',
      {
        recall_type: 'workspace_context',
        repo_name: 'octo/hello',
        repo_directory: 'hello',
        repo_branch: 'main',
        runtime_hosts: { 'localhost:8080': 8080 },
        date: '2026-11-21',
        working_dir: '/workspace',
      },
    ],
    ['Workspace context', { recall_type: 'workspace_context', missing: 'the sandbox is not there yet' }],
    [
      '',
      { recall_type: 'knowledge', query: 'docker', microagent_knowledge: [{ name: 'docker', trigger: 'docker', content: 'Use compose.' }] },
    ],
  ],
  task_tracking: [['Two items.', { command: 'plan', task_list: TASKS }]],
  loop_detection: [['The last four steps were the same.', {}]],
  mcp: [['{"ok":true}', { name: 'fetch', arguments: { url: 'https://example.com' } }]],
  error: [
    ['No such file: b.txt', {}],
    ['The action has not been executed.', { error_id: 'AGENT_ERROR$ERROR_ACTION_NOT_EXECUTED_STOPPED' }],
  ],
  restore_checkpoint: [['The files of the workspace were restored to checkpoint 2: 3 changed.', { checkpoint: 2, changed: 3 }]],
  success: [['Done.', {}]],
  user_rejected: [['The action was not allowed.', {}]],
};

const TIMESTAMP = '2026-11-21T10:00:00.123Z';

function meta(id: number, source: EventSource) {
  return { id, timestamp: TIMESTAMP, source };
}

const BY_USER = new Set<ActionKind>(['initialize', 'start', 'pause', 'resume', 'stop', 'change_agent_state', 'recall']);

export const EVERY_ACTION: readonly Action[] = Object.entries(ACTION_SAMPLES).flatMap(([kind, samples]) =>
  samples.map((args, index) => {
    const definition = ACTIONS[kind as ActionKind] as unknown as { create: (args: unknown) => object };
    return { ...meta(index, BY_USER.has(kind as ActionKind) ? 'user' : 'agent'), ...definition.create(args) } as Action;
  }),
);

const EVERY_OBSERVATION: readonly Observation[] = Object.entries(OBSERVATION_SAMPLES).flatMap(([kind, samples]) =>
  samples.map(([content, extras], index) => {
    const definition = OBSERVATIONS[kind as ObservationKind] as unknown as { create: (content: string, extras: unknown) => object };
    return { ...meta(index + 1, 'agent'), cause: index, ...definition.create(content, extras) } as Observation;
  }),
);

/** A kind from the future. */
export const UNKNOWN: Event = {
  ...meta(3, 'agent'),
  unknown: true,
  raw: { message: 'from the future', action: 'levitate', args: { height: 2 }, note: null },
};

export const EVERY_KIND: readonly Event[] = [...EVERY_ACTION, ...EVERY_OBSERVATION, UNKNOWN];

/** An agent's action with everything an action can carry. */
export const FULL_ACTION: Action = {
  ...meta(9, 'agent'),
  ...ACTIONS.run.create({ command: 'ls -la', thought: 'Let me look.' }),
  executor: 'incarnation-1',
  timeout: 120,
  tool_call_metadata: {
    function_name: 'execute_bash',
    tool_call_id: 'call_1',
    model_response: {
      id: 'chatcmpl-1',
      created: 1_700_000_000,
      model: 'gpt-4o',
      object: 'chat.completion',
      choices: [
        {
          finish_reason: 'tool_calls',
          index: 0,
          message: {
            content: 'Let me look.',
            role: 'assistant',
            tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'execute_bash', arguments: '{"command":"ls -la"}' } }],
          },
        },
      ],
      usage: { completion_tokens: 20, prompt_tokens: 100, total_tokens: 120 },
    },
    total_calls_in_response: 1,
  },
  llm_metrics: {
    accumulated_cost: 0.0012,
    max_budget_per_task: null,
    accumulated_token_usage: tokens(''),
    costs: [{ model: 'gpt-4o', cost: 0.0012, timestamp: 1_795_243_014.5 }],
    response_latencies: [{ model: 'gpt-4o', latency: 1.5, response_id: 'chatcmpl-1' }],
    token_usages: [tokens('chatcmpl-1')],
  },
};

function tokens(response_id: string) {
  return {
    model: 'gpt-4o',
    prompt_tokens: 100,
    completion_tokens: 20,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    context_window: 128_000,
    per_turn_token: 120,
    response_id,
  };
}
