/** Logs for property tests: plausible ones, as the engine writes them, and implausible ones, as anybody could have imported them. */
import {
  ACTIONS,
  answerOf,
  fromJson,
  OBSERVATIONS,
  withAnswerReference,
  type ActionKind,
  type Event,
  type ObservationKind,
} from '@tendon/protocol';
import * as fc from 'fast-check';

type Json = Record<string, unknown>;

export function toLog(raws: readonly Json[]): readonly Event[] {
  return raws.map((raw, id) => fromJson({ id, timestamp: '2026-01-01T00:00:00Z', source: 'agent', ...raw }));
}

export function metadataOf(
  responseId: string,
  callIds: readonly string[],
  at: number,
  args = '{"command":"ls"}',
  content: string | null = null,
): Json {
  const tool_calls = callIds.map((id) => ({ id, type: 'function', function: { name: 'execute_bash', arguments: args } }));
  const model_response = {
    id: responseId,
    model: 'm',
    choices: [{ finish_reason: 'tool_calls', index: 0, message: { role: 'assistant', content, tool_calls } }],
  };
  return { function_name: 'execute_bash', tool_call_id: callIds[at]!, model_response, total_calls_in_response: callIds.length };
}

const text = fc.oneof(fc.string({ maxLength: 20 }), fc.constantFrom('', ' ', '\u{1F600}', '\ud83d', 'x'.repeat(31_000)));

const userMessage = text.map((content): Json[] => [{ source: 'user', action: 'message', args: { content } }]);
const agentMessage = text.map((content): Json[] => [{ action: 'message', args: { content, wait_for_response: true } }]);
const state = fc
  .constantFrom('running', 'paused', 'stopped', 'finished')
  .map((agent_state): Json[] => [{ source: 'environment', observation: 'agent_state_changed', content: '', extras: { agent_state } }]);

/** Forgets any range, also half of an answer; or clears old results, or edits a summary. */
const condensation = fc
  .tuple(fc.oneof(fc.nat(30), fc.constant(0)), fc.nat(12), fc.option(text), fc.constantFrom('forget', 'forget', 'clear', 'edit'))
  .map(([start, length, summary, what]): Json[] => {
    if (what === 'clear') return [{ action: 'condensation', args: { cleared_until: start + length } }];
    if (what === 'edit') return [{ source: 'user', action: 'condensation', args: { edits: start, summary: summary || 'edited' } }];
    return [{ action: 'condensation', args: { forgotten_events_start_id: start, forgotten_events_end_id: start + length, summary } }];
  });

/** An answer with its calls and, of those, the observations that made it into the log, with a word of the user between. */
const answer = fc.record({
  calls: fc.array(fc.constantFrom('run', 'bad', 'finish', 'think'), { minLength: 1, maxLength: 4 }),
  answered: fc.nat(4),
  steers: fc.boolean(),
  content: fc.option(text),
  args: fc.constantFrom('{"command":"ls"}', '{"command":', '', '[]', '"x"'),
  repeatedIds: fc.boolean(),
});

/** With the answers whole on every event, as older versions wrote them. Ids are only known when the whole log is laid out, so events name their cause by a distance. */
export const olderLog: fc.Arbitrary<readonly Event[]> = fc
  .array(fc.oneof({ weight: 3, arbitrary: answer }, userMessage, agentMessage, state, condensation), { maxLength: 12 })
  .map((parts) => {
    const log: Json[] = [{ action: 'system', args: { content: 'prompt', tools: [] } }];
    for (const [n, part] of parts.entries()) {
      if (Array.isArray(part)) log.push(...part);
      else layOut(log, part, n);
    }
    return toLog(log);
  });

export const plausibleLog: fc.Arbitrary<readonly Event[]> = fc
  .tuple(olderLog, fc.boolean())
  .map(([log, isOlder]) => (isOlder ? log : withReferences(log)));

/** As it is written today: an answer once, on the first event that names it. */
export function withReferences(log: readonly Event[]): readonly Event[] {
  const seen = new Set<string>();
  return log.map((event) => {
    const id = answerOf(event)?.id;
    if (id === undefined || 'unknown' in event) return event;
    if (seen.has(id)) return { ...event, tool_call_metadata: withAnswerReference(event.tool_call_metadata!) };
    seen.add(id);
    return event;
  });
}

type Answer = typeof answer extends fc.Arbitrary<infer T> ? T : never;

function layOut(log: Json[], { calls, answered, steers, content, args, repeatedIds }: Answer, n: number): void {
  const ids = calls.map((_, index) => (repeatedIds ? `call_${index}` : `call_${n}_${index}`));
  const waiting: { cause: number; tool_call_metadata: Json }[] = [];
  for (const [index, call] of calls.entries()) {
    const tool_call_metadata = metadataOf(repeatedIds ? 'same' : `r${n}`, ids, index, args, content);
    if (call === 'bad') {
      log.push({ observation: 'error', content: 'bad call', extras: {}, tool_call_metadata });
      continue;
    }
    if (call !== 'finish') waiting.push({ cause: log.length, tool_call_metadata });
    const own = call === 'run' ? { command: 'ls' } : {};
    log.push({ action: call, args: own, tool_call_metadata });
  }
  if (steers) log.push({ source: 'user', action: 'message', args: { content: `steer ${n}` } });
  for (const call of waiting.slice(0, answered)) {
    log.push({
      observation: 'run',
      content: content === 'x'.repeat(31_000) ? content : 'out',
      extras: { command: 'ls', metadata: { exit_code: 0 } },
      ...call,
    });
  }
}

const REQUIRED: Json = {
  command: 'c',
  code: 'c',
  path: '/p',
  content: 'x',
  url: 'u',
  browser_actions: 'b',
  agent: 'a',
  query: 'q',
  summary: 's',
};
const MORE: Json = {
  checkpoint: 1,
  task: 't',
  id: '1',
  parent: '0',
  goal: 'g',
  state: 'open',
  name: 'n',
  agent_state: 'running',
  file_path: '/f',
  thought: 't',
};

/** Any kind, from anybody, with causes and calls that may point anywhere. */
export const implausibleLog: fc.Arbitrary<readonly Event[]> = fc
  .array(
    fc.record({
      kind: fc.oneof(
        fc.constantFrom(...(Object.keys(ACTIONS) as ActionKind[])).map((action) => ({ action, args: { ...REQUIRED, ...MORE } })),
        fc
          .constantFrom(...(Object.keys(OBSERVATIONS) as ObservationKind[]))
          .map((observation) => ({ observation, content: 'o', extras: { ...REQUIRED, ...MORE } })),
        fc.constant({ action: 'made_up', args: {} }),
      ),
      source: fc.constantFrom('agent', 'user', 'environment'),
      cause: fc.option(fc.nat(30), { nil: undefined }),
      call: fc.option(fc.tuple(fc.nat(3), fc.nat(2), fc.nat(2)), { nil: undefined }),
      content: text,
    }),
    { maxLength: 30 },
  )
  .map((parts) => toLog(parts.map(({ kind, source, cause, call, content }) => strange({ kind, source, cause, call, content }))));

/** Every kind from everybody, some with a cause or a call: always the same log. */
export function everyKindLog(): readonly Event[] {
  const extras = { ...REQUIRED, ...MORE };
  const actions = Object.keys(ACTIONS).map((action) => ({ action, args: extras }));
  const observations = Object.keys(OBSERVATIONS).map((observation) => ({ observation, extras }));
  const parts = ['agent', 'user', 'environment'].flatMap((source) => [...actions, ...observations].map((kind) => ({ kind, source })));
  return toLog(
    parts.map(({ kind, source }, at): Json => {
      const call: [number, number, number] = [at % 4, at % 3, at % 2];
      const content = `sent at ${at}`;
      return strange({ kind, source, content, ...(at % 5 === 0 && { cause: Math.max(0, at - (at % 7)) }), ...(at % 2 === 0 && { call }) });
    }),
  );
}

function strange(part: { kind: Json; source: string; cause?: number; call?: [number, number, number]; content: string }): Json {
  const { kind, source, cause, call, content } = part;
  const ids = ['a', 'b b/ü', 'c'.repeat(90)];
  return {
    ...kind,
    ...(kind.observation !== undefined && { content }),
    ...(kind.action === 'message' && { args: { content } }),
    source,
    ...(cause !== undefined && { cause }),
    ...(call && { tool_call_metadata: metadataOf(`r${call[0]}`, ids.slice(0, call[1] + 1), Math.min(call[1], call[2]), content) }),
  };
}
