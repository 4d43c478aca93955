import type { Action, Event, LlmMetrics, Observation } from '@tendon/protocol';
import type { PlanEntry, SessionUpdate, ToolCallContent, ToolKind } from '@agentclientprotocol/sdk';
import { wordsOf } from '../terminal/agent-words.ts';
import { decisionWords } from '../terminal/waiting.ts';

/** Kinds of action that an editor shows as a tool call; the others are messages, or the engine's own. */
const TOOLS: Readonly<Partial<Record<Action['action'], ToolKind>>> = {
  run: 'execute',
  run_ipython: 'execute',
  kill: 'execute',
  read: 'read',
  write: 'edit',
  edit: 'edit',
  browse: 'fetch',
  browse_interactive: 'fetch',
  call_tool_mcp: 'other',
  delegate: 'other',
};

const STATUSES: Readonly<Record<string, PlanEntry['status']>> = { done: 'completed', in_progress: 'in_progress' };

/**
 * Turns the events of one conversation into what an editor shows, in their order. Owns which calls the editor knows: an action that waited is
 * added again when it is decided, and is one call to the editor.
 */
export class AcpUpdates {
  readonly #folder: string;
  readonly #known = new Set<string>();
  /** The agent's words that were sent before their event arrived. */
  #words = '';

  /** `folder`: what the sandbox calls /workspace. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A piece of an answer that is being written. */
  delta(text: string, offset: number): readonly SessionUpdate[] {
    // An answer that begins anew cannot be taken back: the new text is shown after it.
    this.#words = offset === 0 ? text : this.#words + text;
    return [spoken(text)];
  }

  /** `withUser`: the user's messages too, for a conversation that is loaded. */
  event(event: Event, { withUser }: { readonly withUser: boolean }): readonly SessionUpdate[] {
    if ('unknown' in event) return [];
    if ('observation' in event) return this.#observed(event);
    if (event.source === 'user') return withUser && event.action === 'message' ? [chunk('user_message_chunk', event.args.content)] : [];
    return event.source === 'agent' ? [...thoughts(event), ...this.#spoken(event), ...this.#called(event)] : [];
  }

  /** The id by which the editor knows the call. */
  callId({ id, tool_call_metadata: call }: Pick<Action, 'id' | 'tool_call_metadata'>): string {
    return call ? `${call.model_response.id}/${call.tool_call_id}` : `event-${id}`;
  }

  #spoken(action: Action): readonly SessionUpdate[] {
    const thought = 'thought' in action.args && action.action !== 'think' ? String(action.args.thought) : '';
    const text = wordsOf(action) ?? thought;
    const sent = this.#words;
    this.#words = '';
    const rest = sent !== '' && text.trimEnd().startsWith(sent.trimEnd()) ? text.slice(sent.length) : text;
    return rest.trim() === '' ? [] : [spoken(rest)];
  }

  #called(action: Action): readonly SessionUpdate[] {
    if (action.action === 'task_tracking') return action.args.command === 'plan' ? [plan(action)] : [];
    const kind = TOOLS[action.action];
    if (!kind) return [];
    const toolCallId = this.callId(action);
    const waits = 'confirmation_state' in action.args && action.args.confirmation_state === 'awaiting_confirmation';
    const status = waits ? ('pending' as const) : ('in_progress' as const);
    if (this.#known.has(toolCallId)) return [{ sessionUpdate: 'tool_call_update', toolCallId, status }];
    this.#known.add(toolCallId);
    const path = 'path' in action.args && typeof action.args.path === 'string' ? this.#path(action.args.path) : undefined;
    return [
      {
        sessionUpdate: 'tool_call',
        toolCallId,
        title: titleOf(action),
        kind,
        status,
        rawInput: action.args,
        ...(path !== undefined && { locations: [{ path }] }),
      },
    ];
  }

  #observed(event: Observation): readonly SessionUpdate[] {
    if (event.cause === undefined) return [];
    const toolCallId = this.callId({ id: event.cause, tool_call_metadata: event.tool_call_metadata });
    if (!this.#known.has(toolCallId)) return [];
    const status = hasFailed(event) ? ('failed' as const) : ('completed' as const);
    return [{ sessionUpdate: 'tool_call_update', toolCallId, status, content: this.#contentOf(event) }];
  }

  #contentOf(event: Observation): ToolCallContent[] {
    if (event.observation === 'edit' && event.extras.new_content !== null && !hasFailed(event)) {
      const { path, old_content: oldText, new_content: newText } = event.extras;
      return [{ type: 'diff', path: this.#path(path), oldText, newText }];
    }
    return event.content.trim() === '' ? [] : [{ type: 'content', content: { type: 'text', text: event.content } }];
  }

  #path(path: string): string {
    return path === '/workspace' || path.startsWith('/workspace/') ? `${this.#folder}${path.slice('/workspace'.length)}` : path;
  }
}

/** Undefined for a model whose window is unknown: the usage could not be compared with anything. */
export function usageUpdates({ accumulated_cost: amount, accumulated_token_usage: usage }: LlmMetrics): readonly SessionUpdate[] {
  const { per_turn_token: used, context_window: size } = usage;
  return size > 0 ? [{ sessionUpdate: 'usage_update', used, size, cost: { amount, currency: 'USD' } }] : [];
}

function titleOf(action: Action): string {
  if (action.action === 'read') return action.args.search ? `Search for ${action.args.search.pattern}` : `Read ${action.args.path}`;
  if (action.action === 'edit' || action.action === 'write') return `Edit ${action.args.path}`;
  if (action.action === 'call_tool_mcp') return action.args.name;
  if (action.action === 'browse') return `Open ${action.args.url}`;
  if (action.action === 'delegate') return `Delegate to ${action.args.agent}`;
  return decisionWords(action).what;
}

function hasFailed(event: Observation): boolean {
  if (event.observation === 'error' || event.observation === 'user_rejected' || event.content.startsWith('ERROR:')) return true;
  return event.observation === 'run' && event.extras.metadata.exit_code > 0;
}

function thoughts(action: Action): readonly SessionUpdate[] {
  const { reasoning_content: reasoning } = action as { readonly reasoning_content?: unknown };
  const texts = [typeof reasoning === 'string' ? reasoning : '', action.action === 'think' ? action.args.thought : ''];
  return texts.filter((text) => text.trim() !== '').map((text) => chunk('agent_thought_chunk', text));
}

function plan({ args: { task_list: tasks } }: Action<'task_tracking'>): SessionUpdate {
  const entries = tasks.map(({ title, status }) => ({
    content: title,
    priority: 'medium' as const,
    status: STATUSES[status] ?? ('pending' as const),
  }));
  return { sessionUpdate: 'plan', entries };
}

function spoken(text: string): SessionUpdate {
  return chunk('agent_message_chunk', text);
}

function chunk(sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk', text: string): SessionUpdate {
  return { sessionUpdate, content: { type: 'text', text } };
}
