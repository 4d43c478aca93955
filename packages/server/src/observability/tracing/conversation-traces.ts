/**
 * The spans of one conversation: `invoke_agent` from the moment in which its agent works until it waits or ends, below it `chat` for each
 * request to a model, `execute_tool` for each action in the sandbox, and the start of a sandbox. Names and attributes are those of
 * OpenTelemetry's conventions for generative AI.
 *
 * The log says when an agent works, so no part of the engine knows of spans. Which request of a client set it to work is known as long as
 * this process lives: an agent that goes on after a restart begins a trace of its own.
 */
import { type Context, type Span, SpanKind } from '@opentelemetry/api';
import {
  withLogMethods,
  withStream,
  type EventLog,
  type LlmEvent,
  type LlmProvider,
  type RunnableAction,
  type Runtime,
  type Runtimes,
} from '@tendon/core';
import { isActive, isAction, isObservation, isUnknown, type AgentState, type Event } from '@tendon/protocol';
import type { ConversationObserver } from '../observe-conversation.ts';
import { contextOf, type Spans } from './spans.ts';
import type { TracedConversation } from './tracing.ts';

export class ConversationTraces implements ConversationObserver {
  readonly #spans: Spans;
  readonly #conversation: TracedConversation;
  readonly #above: () => Context | undefined;
  readonly #wrapped = new WeakMap<Runtime, Runtime>();
  #agent: Span | undefined;
  /** The newest request of a client. */
  #origin: Context | undefined;

  /** `above`: the agent that delegated this conversation. */
  constructor(spans: Spans, conversation: TracedConversation, above: () => Context | undefined) {
    this.#spans = spans;
    this.#conversation = conversation;
    this.#above = above;
  }

  /** What the next span belongs to. */
  get context(): Context | undefined {
    return this.#agent ? contextOf(this.#agent) : (this.#origin ?? this.#above());
  }

  log(log: EventLog): EventLog {
    const see = this.#see.bind(this);
    return withLogMethods(log, {
      append: async (drafts, options) => {
        const events = await log.append(drafts, options);
        for (const event of events) see(event);
        return events;
      },
    });
  }

  model(provider: LlmProvider): LlmProvider {
    const [spans, { id }] = [this.#spans, this.#conversation];
    const begin = (): Span =>
      spans.begin({
        name: `chat ${provider.model}`,
        kind: SpanKind.CLIENT,
        parent: this.context,
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': provider.model.split('/', 1)[0],
          'gen_ai.request.model': provider.model,
          'gen_ai.conversation.id': id,
        },
      });
    return withStream(provider, async function* (request, options) {
      const span = begin();
      spans.setContent(span, 'gen_ai.input.messages', () => request.messages);
      let failure: { readonly type: string; readonly message: string } | undefined;
      try {
        const events = provider.stream(request, options)[Symbol.asyncIterator]();
        for (;;) {
          const next = await spans.within(span, () => events.next());
          if (next.done) break;
          const { value } = next;
          if (value.type === 'failed') failure = { type: value.failure.error.code, message: value.failure.error.message };
          else seeModel(spans, span, value);
          yield value;
        }
      } finally {
        spans.end(span, failure);
      }
    });
  }

  runtimes(runtimes: Runtimes): Runtimes {
    return {
      ...runtimes,
      acquire: async (id, options) => {
        let span: Span | undefined;
        const onPhase: typeof options.onPhase = (phase, detail) => {
          span ??= this.#begin('start sandbox', SpanKind.INTERNAL, {});
          this.#spans.note(span, phase, {});
          options.onPhase?.(phase, detail);
        };
        try {
          const runtime = await runtimes.acquire(id, { ...options, onPhase });
          if (span) this.#spans.set(span, { 'tendon.sandbox.strength': runtime.strength });
          if (span) this.#spans.end(span);
          return this.#runtime(runtime);
        } catch (error) {
          if (span) this.#spans.end(span, { type: 'sandbox_start_failed', message: String(error) });
          throw error;
        }
      },
      current: (id) => {
        const runtime = runtimes.current(id);
        return runtime && this.#runtime(runtime);
      },
    };
  }

  fetch(send: typeof fetch): typeof fetch {
    return (input, init) => {
      const { current } = this.#spans;
      const traceparent = current && this.#spans.traceparent(current);
      if (traceparent === undefined) return send(input, init);
      const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
      headers.set('traceparent', traceparent);
      return send(input, { ...init, headers });
    };
  }

  #runtime(runtime: Runtime): Runtime {
    const known = this.#wrapped.get(runtime);
    if (known) return known;
    const wrapped: Runtime = {
      ...runtime,
      execute: async (action, options) => {
        const span = this.#beginTool(action);
        const traceparent = this.#spans.traceparent(contextOf(span));
        const result = await runtime.execute(action, { ...options, ...(traceparent && { traceparent }) });
        this.#spans.set(span, { 'tendon.action.outcome': result.outcome });
        if (result.outcome === 'observed') this.#spans.setContent(span, 'gen_ai.tool.call.result', () => result.observation.content);
        this.#spans.end(span, result.outcome === 'observed' ? undefined : { type: result.outcome, message: result.reason });
        return result;
      },
    };
    this.#wrapped.set(runtime, wrapped);
    return wrapped;
  }

  #beginTool(action: RunnableAction): Span {
    const { function_name: tool = action.action, tool_call_id: call } = action.tool_call_metadata ?? {};
    const span = this.#begin(`execute_tool ${tool}`, SpanKind.CLIENT, {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.type': 'function',
      ...(call !== undefined && { 'gen_ai.tool.call.id': call }),
      'tendon.action.kind': action.action,
      'tendon.action.id': action.id,
    });
    this.#spans.setContent(span, 'gen_ai.tool.call.arguments', () => action.args);
    return span;
  }

  #begin(name: string, kind: SpanKind, attributes: Readonly<Record<string, string | number>>): Span {
    const { id } = this.#conversation;
    return this.#spans.begin({ name, kind, parent: this.context, attributes: { ...attributes, 'gen_ai.conversation.id': id } });
  }

  #see(event: Event): void {
    if (isUnknown(event)) return;
    if (isAction(event) && event.source === 'user') this.#origin = this.#spans.current ?? this.#origin;
    if (isObservation(event) && event.observation === 'agent_state_changed') this.#changed(event.extras.agent_state);
  }

  #changed(state: AgentState): void {
    if (isActive(state)) {
      const { agent } = this.#conversation;
      this.#agent ??= this.#begin(`invoke_agent ${agent}`, SpanKind.INTERNAL, {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': agent,
      });
    } else if (this.#agent) {
      this.#spans.set(this.#agent, { 'tendon.agent.state': state });
      this.#spans.end(this.#agent, state === 'error' ? { type: 'agent_error', message: 'the agent could not go on' } : undefined);
      this.#agent = undefined;
    }
  }
}

function seeModel(spans: Spans, span: Span, event: LlmEvent): void {
  switch (event.type) {
    case 'queued':
      return spans.note(span, 'queued', { 'tendon.queue.ahead': event.ahead });
    case 'admitted':
      return spans.note(span, 'admitted', {});
    case 'retry':
      return spans.note(span, 'retry', { 'error.type': event.failure.error.code, 'tendon.retry.attempt': event.attempt });
    case 'fallback':
      return spans.note(span, 'fallback', { 'error.type': event.failure.error.code, 'gen_ai.request.model': event.to });
    case 'done': {
      const { answer } = event;
      spans.set(span, {
        'gen_ai.response.id': answer.id,
        'gen_ai.response.model': answer.model,
        'gen_ai.response.finish_reasons': [answer.finishReason],
        'gen_ai.usage.input_tokens': answer.usage.inputTokens,
        'gen_ai.usage.output_tokens': answer.usage.outputTokens,
        'gen_ai.usage.cache_read.input_tokens': answer.usage.cacheReadTokens,
        'gen_ai.usage.cache_creation.input_tokens': answer.usage.cacheWriteTokens,
        'tendon.cost.usd': answer.costUsd,
      });
      return spans.setContent(span, 'gen_ai.output.messages', () => ({ text: answer.text, toolCalls: answer.toolCalls }));
    }
  }
}
