import { describe, expect, it } from 'vitest';
import { dialectOfPage, openhandsV0, openhandsV0InBand, type Dialect, type Frame } from '@tendon/protocol';
import { EVERY_KIND, FULL_ACTION, UNKNOWN } from './every-kind.ts';
import { factOf, keyProblems, nameOf, readFacts, typeProblems, type Facts, type KeysByKind } from './facts.ts';

/** Not of 0.62: optional arguments of ours, and names of older generations, which stand beside today's (DL4). */
const BESIDE_0_62: KeysByKind = {
  'action run': ['background'],
  'action finish': ['task_completed'],
  'observation run': ['command_id', 'exit_code'],
  'observation recall': ['query', 'missing'],
  'observation agent_state_changed': ['resumes_at'],
};
const BESIDE_0_40 = merged(BESIDE_0_62, {
  'action run': ['security_risk'],
  'action run_ipython': ['security_risk'],
  'action browse': ['security_risk', 'return_axtree'],
  'action browse_interactive': ['security_risk', 'return_axtree'],
  'action read': ['security_risk'],
  'action write': ['security_risk'],
  'action edit': ['security_risk'],
  'action message': ['file_urls', 'security_risk'],
  'action call_tool_mcp': ['security_risk'],
  'observation browse': ['filter_visible_only'],
  'observation recall': ['repo_branch', 'working_dir'],
});
const BESIDE_0_25 = merged(BESIDE_0_40, {
  'action run': ['cwd', 'is_static'],
  'action finish': ['final_thought'],
  'observation run_ipython': ['image_urls'],
  'observation browse': ['screenshot_path'],
  'observation edit': ['diff'],
  'observation agent_state_changed': ['reason'],
});
const BESIDE_0_15 = merged(BESIDE_0_25, {
  'action run': ['is_input'],
  'action read': ['impl_source', 'view_range'],
  'action edit': ['command', 'file_text', 'old_str', 'new_str', 'insert_line', 'impl_source'],
  'action modify_task': ['id'],
  'observation run': ['metadata'],
  'observation browse': ['goal_image_urls', 'set_of_marks'],
  'observation read': ['impl_source'],
  'observation edit': ['_diff_cache', 'impl_source'],
});

/** Kinds that a release does not know, and is sent: its frontends pass over them, and their `message` can be read. */
const OURS = ['action initialize', 'action kill', 'action pause', 'action push', 'action resume', 'action send_pr', 'action stop'];
const NOT_OF_0_62 = [
  ...OURS,
  'action restore_checkpoint',
  'observation restore_checkpoint',
  'action add_task',
  'action modify_task',
  'action summarize',
  'observation chat',
  'observation message',
];
const SINCE_0_40 = [
  'action condensation_request',
  'action loop_recovery',
  'action task_tracking',
  'observation download',
  'observation loop_detection',
  'observation task_tracking',
];
const SINCE_0_25 = [
  'action call_tool_mcp',
  'action condensation',
  'action recall',
  'action system',
  'action think',
  'observation mcp',
  'observation recall',
  'observation think',
];
const NOT_OF_0_40 = [...NOT_OF_0_62, ...SINCE_0_40];
const NOT_OF_0_25 = [...NOT_OF_0_40, ...SINCE_0_25].filter((name) => name !== 'observation think');
/** 0.15 still had tasks of its own, and no condensation yet; some of what came later it is not sent (DL126). */
const NOT_OF_0_15 = [
  ...NOT_OF_0_25.filter((name) => !/(?:add|modify)_task|think|observation recall|loop_detection/.test(name)),
  'observation condense',
];

/** Null where the samples of the release have a value: a condensation by range, with or without its summary. */
const NULLABLE = ['args.forgotten_event_ids', 'args.summary', 'args.summary_offset'];

interface Release {
  readonly release: string;
  readonly dialect: Dialect;
  readonly beside: KeysByKind;
  readonly unknown: readonly string[];
}

/** Which dialect a socket takes for a client of that release: `serve-socket-io.ts` and `in-band-session.ts`. 0.62 stands for programs, too. */
const RELEASES: readonly Release[] = [
  { release: '0.62.0', dialect: openhandsV0, beside: BESIDE_0_62, unknown: NOT_OF_0_62 },
  { release: '0.40.0', dialect: dialectOfPage({ providers_set: '', session_api_key: '' }), beside: BESIDE_0_40, unknown: NOT_OF_0_40 },
  { release: '0.25.0', dialect: dialectOfPage({}), beside: BESIDE_0_25, unknown: NOT_OF_0_25 },
  { release: '0.15.0', dialect: openhandsV0InBand, beside: BESIDE_0_15, unknown: NOT_OF_0_15 },
];

describe.each(RELEASES)('openhands-v0 against what $release wrote', ({ release, dialect, beside, unknown }) => {
  const facts = readFacts(release);
  const emitted = EVERY_KIND.filter((event) => event !== UNKNOWN).flatMap((event) => [
    ...dialect.encode(event, 'live'),
    ...dialect.encode(event, 'replay'),
  ]);
  const known = emitted.flatMap((frame) => {
    const fact = factOf(facts, frame);
    return fact ? [{ frame, fact }] : [];
  });

  it('DL1: every kind of it but null is emitted', () => {
    const names = new Set(emitted.map(nameOf));
    expect(kindsOf(facts).filter((kind) => !names.has(kind))).toEqual(['action null', 'observation null']);
  });

  it('DL1: beside them exactly the later kinds that are listed', () => {
    const names = new Set(emitted.filter((frame) => !factOf(facts, frame)).map(nameOf));
    expect([...names].toSorted()).toEqual([...unknown].toSorted());
  });

  it('DL2: every kind has exactly its keys, and the additive ones that are listed', () => {
    expect(known.flatMap(({ frame, fact }) => keyProblems(frame, fact, beside))).toEqual([]);
  });

  it('DL2: nothing is listed as additive that is not sent', () => {
    const sent = merged(...known.map(({ frame }) => ({ [nameOf(frame)]: Object.keys((frame.args ?? frame.extras) as Frame) })));
    const listed = Object.entries(beside).filter(([name]) => kindsOf(facts).includes(name));
    expect(listed.flatMap(([name, keys]) => keys.filter((key) => !sent[name]?.includes(key)).map((key) => `${name}: ${key}`))).toEqual([]);
  });

  it('DL2: every key has its type', () => {
    expect(known.flatMap(({ frame, fact }) => typeProblems(frame, fact, NULLABLE))).toEqual([]);
  });

  it('DL3: top-level keys come in its order; `success`, which 0.15 had not, is the last', () => {
    const orders = known.map(({ frame, fact }) => [Object.keys(frame), fact.keys] as const);
    for (const [keys, fact] of orders)
      expect(keys).toEqual(keys.includes('success') ? [...fact.filter((key) => key !== 'success'), 'success'] : fact);
  });
});

describe.each(['0.62.0', '0.40.0'])('an action with everything against what %s wrote', (release) => {
  it('DL3: it has the keys of the full example in order, and nothing of the executor', () => {
    const { full } = readFacts(release);
    const [frame] = openhandsV0.encode(FULL_ACTION, 'live');
    expect(Object.keys(frame!)).toEqual(full!.keys);
    expect(frame!.llm_metrics).toMatchObject({ costs: [], response_latencies: [], token_usages: [] });
    expect(typeProblems(frame!, full!)).toEqual([]);
  });
});

it('DL4: what 0.15 reads under names that went away is sent under them', () => {
  const [run] = openhandsV0InBand.encode(FULL_ACTION, 'live');
  expect(run!.args).toMatchObject({ command: 'ls -la', keep_prompt: true });
  const task = EVERY_KIND.find((event) => 'action' in event && event.action === 'modify_task')!;
  expect(openhandsV0InBand.encode(task, 'live')).toMatchObject([{ args: { id: '0.1', task_id: '0.1' } }]);
});

function kindsOf(facts: Facts): readonly string[] {
  return [
    ...Object.keys(facts.actions).map((kind) => `action ${kind}`),
    ...Object.keys(facts.observations).map((kind) => `observation ${kind}`),
  ];
}

function merged(...lists: readonly KeysByKind[]): KeysByKind {
  const all = new Map<string, readonly string[]>();
  for (const [name, keys] of lists.flatMap((list) => Object.entries(list))) all.set(name, [...(all.get(name) ?? []), ...keys]);
  return Object.fromEntries(all);
}
