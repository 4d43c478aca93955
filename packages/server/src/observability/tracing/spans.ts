/**
 * Makes spans. Owns which of them is current in an asynchronous context; does not own what is sent or when.
 *
 * SPA1  Every text of an attribute is masked and at most `MAX_TEXT` characters; texts of people, models and tools are attributes only where
 *       the operator asked for contents.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { Mask } from '@tendon/protocol/masking';

const MAX_TEXT = 32 * 1024;

export interface SpansOptions {
  readonly tracer: Tracer;
  readonly mask: Pick<Mask, 'text'>;
  /** Whether contents of messages and tools are attributes. */
  readonly hasContents: boolean;
}

export interface NewSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly parent?: Context | undefined;
  readonly attributes: Attributes;
}

export class Spans {
  readonly #options: SpansOptions;
  readonly #current = new AsyncLocalStorage<Context>();
  readonly #propagator = new W3CTraceContextPropagator();
  readonly #open = new Set<Span>();

  constructor(options: SpansOptions) {
    this.#options = options;
  }

  /** That of the code that runs now. */
  get current(): Context | undefined {
    return this.#current.getStore();
  }

  begin({ name, kind, parent, attributes }: NewSpan): Span {
    const span = this.#options.tracer.startSpan(
      name,
      { kind, attributes: this.#masked(attributes) },
      parent ?? this.current ?? ROOT_CONTEXT,
    );
    this.#open.add(span);
    return span;
  }

  set(span: Span, attributes: Attributes): void {
    span.setAttributes(this.#masked(attributes));
  }

  note(span: Span, name: string, attributes: Attributes): void {
    span.addEvent(name, this.#masked(attributes));
  }

  /** A text that somebody wrote. */
  setContent(span: Span, attribute: string, content: () => unknown): void {
    if (this.#options.hasContents && span.isRecording()) this.set(span, { [attribute]: JSON.stringify(content()) });
  }

  end(span: Span, failure?: { readonly type: string; readonly message: string }): void {
    if (failure) {
      span.setAttribute('error.type', failure.type);
      span.setStatus({ code: SpanStatusCode.ERROR, message: this.#text(failure.message) });
    }
    this.#open.delete(span);
    span.end();
  }

  endAll(): void {
    for (const span of this.#open) this.end(span);
  }

  within<T>(span: Span, run: () => T): T {
    return this.#current.run(contextOf(span), run);
  }

  /** That of another program, as its header names it. */
  remote(traceparent: string | undefined): Context | undefined {
    if (traceparent === undefined) return undefined;
    const context = this.#propagator.extract(ROOT_CONTEXT, { traceparent }, { get: ({ traceparent: value }) => value, keys: Object.keys });
    return trace.getSpanContext(context) && context;
  }

  /** As a header names it to another program. */
  traceparent(context: Context): string | undefined {
    const headers: { traceparent?: string } = {};
    const set = (to: typeof headers, name: string, value: string): void => {
      if (name === 'traceparent') to.traceparent = value;
    };
    this.#propagator.inject(context, headers, { set });
    return headers.traceparent;
  }

  #masked(attributes: Attributes): Attributes {
    const entries = Object.entries(attributes).map(([name, value]) => [name, typeof value === 'string' ? this.#text(value) : value]);
    return Object.fromEntries(entries) as Attributes;
  }

  #text(text: string): string {
    // Masked first: half of a secret would not be found.
    return this.#options.mask.text(text).slice(0, MAX_TEXT);
  }
}

export function contextOf(span: Span): Context {
  return trace.setSpan(ROOT_CONTEXT, span);
}
