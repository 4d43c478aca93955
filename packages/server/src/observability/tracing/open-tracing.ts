/** The OpenTelemetry side of `Tracing`: the only files that load its packages are in this folder, and only `compose` loads this one. */
import { type Context, type Span, SpanKind } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { FastifyRequest } from 'fastify';
import type { Mask } from '@tendon/protocol/masking';
import type { TracingConfig } from '../../platform/config/tracing-config.ts';
import type { App } from '../../platform/http/app.ts';
import type { Logger } from '../../platform/logger.ts';
import { VERSION } from '../../platform/version.ts';
import { ConversationTraces } from './conversation-traces.ts';
import { Spans } from './spans.ts';
import type { TracedConversation, Tracing } from './tracing.ts';

/** What is not sent by then is dropped: a receiver that is gone costs this much memory and no more. */
const QUEUE = { maxQueueSize: 2048, maxExportBatchSize: 512, scheduledDelayMillis: 2000, exportTimeoutMillis: 5000 };
/** Of one batch, with what is tried again. */
const SEND_MS = 2500;
const CLOSE_MS = 2000;
/** Asked again and again by machines. */
const UNTRACED = new Set(['/alive', '/health', '/metrics']);

interface TracingParts {
  readonly mask: Mask;
  readonly logger: Logger;
}

export function openTracing(config: TracingConfig, { mask, logger }: TracingParts): Tracing {
  const exporter = reporting(
    new OTLPTraceExporter({
      url: `${config.endpoint.href.replace(/\/$/, '')}/v1/traces`,
      headers: Object.fromEntries(Object.entries(config.headers).map(([name, value]) => [name, value.reveal()])),
      timeoutMillis: SEND_MS,
    }),
    logger,
  );
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': config.serviceName, 'service.version': VERSION }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(config.share) }),
    spanProcessors: [new BatchSpanProcessor({ exporter, ...QUEUE })],
  });
  const spans = new Spans({ tracer: provider.getTracer('tendon', VERSION), mask, hasContents: config.hasContents });
  const conversations = new Map<string, WeakRef<ConversationTraces>>();
  const closed = new FinalizationRegistry<string>((id) => {
    if (!conversations.get(id)?.deref()) conversations.delete(id);
  });
  return {
    requests: (app) => traceRequests(app, spans),
    frame: (traceparent, name, submit) => traceFrame(spans, spans.remote(traceparent), name, submit),
    of(conversation) {
      const traces = new ConversationTraces(spans, conversation, () => aboveOf(conversation, conversations));
      conversations.set(conversation.id, new WeakRef(traces));
      closed.register(traces, conversation.id);
      return traces;
    },
    async close() {
      spans.endAll();
      const closing = provider.shutdown().catch(() => undefined);
      await Promise.race([closing, new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref())]);
    },
  };
}

function aboveOf({ delegated_by: by }: TracedConversation, all: ReadonlyMap<string, WeakRef<ConversationTraces>>): Context | undefined {
  return by && all.get(by.conversation_id)?.deref()?.context;
}

/** Says once that spans are lost, and once that they are taken again. */
function reporting(exporter: SpanExporter, logger: Logger): SpanExporter {
  let isFailing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const fails = result.error !== undefined;
        if (fails && !isFailing) logger.warn({ err: result.error }, 'the receiver of traces does not take them: spans are dropped');
        if (!fails && isFailing) logger.info('the receiver of traces takes them again');
        isFailing = fails;
        done(result);
      }),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}

function traceRequests(app: App, spans: Spans): void {
  const open = new WeakMap<FastifyRequest, Span>();
  app.addHook('onRequest', async (request) => {
    const { url: route } = request.routeOptions;
    if (route === undefined || UNTRACED.has(route)) return;
    const id = (request.params as { readonly id?: string } | undefined)?.id;
    const span = spans.begin({
      name: `${request.method} ${route}`,
      kind: SpanKind.SERVER,
      parent: spans.remote(single(request.headers.traceparent)),
      attributes: { 'http.request.method': request.method, 'http.route': route, ...(id && { 'gen_ai.conversation.id': id }) },
    });
    open.set(request, span);
  });
  // A body is read from events of the socket: what runs after that is in no context of a hook before it.
  app.addHook('preValidation', (request, _reply, done) => {
    const span = open.get(request);
    if (span) spans.within(span, done);
    else done();
  });
  app.addHook('onResponse', async (request, reply) => {
    const span = open.get(request);
    if (!span) return;
    spans.set(span, { 'http.response.status_code': reply.statusCode });
    spans.end(span, reply.statusCode >= 500 ? { type: String(reply.statusCode), message: '' } : undefined);
  });
}

async function traceFrame<T>(spans: Spans, parent: Context | undefined, name: string, submit: () => Promise<T>): Promise<T> {
  const span = spans.begin({ name: `frame ${name}`, kind: SpanKind.SERVER, parent, attributes: { 'tendon.action.kind': name } });
  try {
    return await spans.within(span, submit);
  } finally {
    spans.end(span);
  }
}

function single(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}
