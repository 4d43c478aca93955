/** Entries from single events: pure, so that an entry made again from the log is the entry that was there. */
import {
  isAction,
  type Action,
  type AnswerReasoning,
  type Event,
  type Observation,
  type ToolCallMetadata,
  messageOf,
  TAKE_OVER_COMMAND,
  type ActionKind,
} from '@tendon/protocol';
import type { LlmToolCall } from '../llm/llm-provider.ts';
import { parseObject } from '../tools/parse-tool-call.ts';
import { type CallResult, type CallsEntry, type Saying, type TextEntry, NOTHING } from './entry.ts';
import { fileOf, shownResult } from './excerpt.ts';
import { sayObservation } from './say-observation.ts';

export function say(event: Action | Observation): Saying {
  return isAction(event) ? sayAction(event) : sayObservation(event as Observation);
}

/** The entry of an event outside an answer; nothing for a silent event. `late`: the tool whose answer is already closed or forgotten. */
export function textOf(event: Action | Observation, late?: string): TextEntry | undefined {
  if (isAction(event) && event.action === 'condensation') return summaryOf(event);
  const saying = say(event);
  if (saying.says === 'user') return toText(event, 'user', saying);
  if (saying.says === 'assistant') return toText(event, 'assistant', saying);
  if (saying.says !== 'result') return undefined;
  const head = late === undefined ? heading(event as Observation) : `[Late result of an earlier ${late} call]`;
  const { text, file } = shownResult(saying.text);
  const entry = toText(event, 'user', { text: `${head}\n${text}`, ...(saying.imageUrls && { imageUrls: saying.imageUrls }) });
  return entry && { ...entry, ...(late !== undefined && { late }), ...(file !== undefined && { file, isExcerpt: true as const }) };
}

/** All of what a file of an excerpt is to hold. */
export function wholeText(event: Action | Observation): string | undefined {
  const saying = say(event);
  return saying.says === 'user' || saying.says === 'result' ? saying.text : undefined;
}

export function summaryOf({ id, args }: Action<'condensation'>): TextEntry | undefined {
  if (!args.summary || args.edits !== undefined || args.undoes !== undefined || args.cleared_until !== undefined) return undefined;
  return {
    type: 'text',
    role: 'user',
    eventId: id,
    text: summaryText(args.summary),
    pinned: false,
    isSummary: true,
  };
}

/** A summary with the text that somebody put in its place. */
export function edited(entry: TextEntry, { id, args }: Action<'condensation'>): TextEntry {
  return { ...entry, text: summaryText(args.summary ?? ''), editId: id };
}

function summaryText(words: string): string {
  return `[Summary of what happened before]\n${words}`;
}

/** All calls of the answer at once, so that the request is the same whether or not their events follow. */
export function callsOf(event: Event, metadata: ToolCallMetadata, wireIds: (id: string) => string): CallsEntry {
  const message = metadata.model_response.choices?.[0]?.message;
  const listed = (message?.tool_calls ?? []).map(({ id, function: { name, arguments: args } }) => ({ id, name, arguments: args }));
  const own = { id: metadata.tool_call_id, name: metadata.function_name, arguments: isAction(event) ? JSON.stringify(event.args) : '{}' };
  const calls = listed.some(({ id }) => id === own.id) ? listed : [own];
  return {
    type: 'calls',
    openedBy: event.id,
    key: metadata.model_response.id,
    text: message?.content ?? '',
    ...(event.reasoning && { reasoning: event.reasoning }),
    calls: calls.map((call) => ({
      id: call.id,
      call: toLegalCall(call, wireIds(call.id), event.reasoning),
      eventIds: [],
      result: undefined,
    })),
  };
}

/** The result that an event gives to its call: an observation's, or that of an action that answers itself. */
export function resultOf(event: Action | Observation): CallResult | undefined {
  const saying = say(event);
  if (saying.says === 'call') return saying.result === undefined ? undefined : { eventId: event.id, text: saying.result };
  if (saying.says !== 'result') return undefined;
  return { eventId: event.id, ...shownResult(saying.text), ...(saying.imageUrls && { imageUrls: saying.imageUrls }) };
}

type Words = Omit<Extract<Saying, { says: 'user' }>, 'says'>;

function toText(event: Event, role: 'user' | 'assistant', { text, imageUrls, pinned = false }: Words): TextEntry | undefined {
  if (text === '' && !imageUrls?.length) return undefined;
  const file = pinned ? fileOf(text) : undefined;
  const { reasoning } = event;
  return {
    type: 'text',
    role,
    eventId: event.id,
    text: text || '[Image]',
    pinned,
    ...(role === 'assistant' && reasoning && { reasoning }),
    ...(imageUrls && { imageUrls }),
    ...(file && { file }),
  };
}

/** Providers would refuse arguments that are not a JSON object; the model is shown the text that it wrote. */
function toLegalCall(call: LlmToolCall, id: string, reasoning: AnswerReasoning | undefined): LlmToolCall {
  const { name, arguments: args } = call;
  const legal = parseObject(args) ? args.trim() || '{}' : JSON.stringify({ not_json: args.slice(0, 1000) });
  const metadata = reasoning?.calls && Object.hasOwn(reasoning.calls, call.id) ? reasoning.calls[call.id] : undefined;
  return { id, name: name || 'unknown', arguments: legal, ...(metadata && { metadata }) };
}

/** An observation that answers no call: the user's own command, or a word of the engine. */
function heading(event: Observation): string {
  if (event.observation === 'run' && event.source === 'user' && event.extras.command === TAKE_OVER_COMMAND)
    return '[The user took this terminal over and typed into it; it showed]';
  if (event.observation === 'run' && event.source === 'user') return `[The user ran in the terminal] $ ${event.extras.command}`;
  if (event.observation === 'run' && event.source === 'environment')
    return `[A check before the task is finished] $ ${event.extras.command}`;
  return event.source === 'user' ? '[The user did this themselves]' : '[Notice]';
}

/** What each kind of action says to the model. A new kind does not compile before it stands here. */
const SAYINGS = {
  null: nothing,
  initialize: nothing,
  start: (action) => ({ says: 'user', text: action.args.task, pinned: true }),
  pause: nothing,
  resume: nothing,
  stop: nothing,
  push: byTool,
  send_pr: byTool,
  call_tool_mcp: byTool,
  run: byTool,
  kill: byTool,
  run_ipython: byTool,
  read: byTool,
  write: byTool,
  edit: byTool,
  browse: byTool,
  browse_interactive: byTool,
  message: (action) =>
    action.source === 'user'
      ? fromUser(action)
      : ending(action, 'The user was asked; the answer is their next message.', action.args.content),
  system: (action) => ({ says: 'system', text: action.args.content }),
  change_agent_state: nothing,
  think: byTool,
  finish: (action) => ending(action, 'The task was reported as finished.', action.args.final_thought || action.args.thought),
  reject: (action) => ending(action, 'The task was reported as rejected.', action.args.thought),
  delegate: byTool,
  recall: (action) => (action.tool_call_metadata ? byTool(action) : NOTHING),
  summarize: (action) => ({ says: 'user', text: `[Summary] ${action.args.summary}` }),
  condensation: nothing,
  condensation_request: (action) =>
    action.tool_call_metadata
      ? ending(action, 'The older part of the conversation is summarized where that makes it shorter.', '')
      : NOTHING,
  task_tracking: byTool,
  loop_recovery: nothing,
  restore_checkpoint: nothing,
  add_task: byTool,
  modify_task: byTool,
} as const satisfies { readonly [K in ActionKind]: (action: Action<K>) => Saying };

function sayAction(action: Action): Saying {
  return (SAYINGS[action.action] as (action: Action) => Saying)(action);
}

function nothing(): Saying {
  return NOTHING;
}

/** The person's own actions are shown with their result. An agent's action without a call comes from another kind of agent. */
function byTool(action: Action): Saying {
  if (action.source !== 'agent') return NOTHING;
  return action.tool_call_metadata ? { says: 'call' } : { says: 'assistant', text: messageOf(action) };
}

/** What was asked in the middle of an action is a part of it. */
function ending(action: Action, result: string, words: string): Saying {
  if (action.source !== 'agent' || action.cause !== undefined) return NOTHING;
  return action.tool_call_metadata ? { says: 'call', result } : { says: 'assistant', text: words || messageOf(action) };
}

function fromUser({ args }: Action<'message'>): Saying {
  const files = args.file_urls?.length ? `\n\nFiles that came with this message:\n${args.file_urls.join('\n')}` : '';
  return { says: 'user', text: args.content + files, pinned: true, ...(args.image_urls?.length && { imageUrls: args.image_urls }) };
}
