import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createMask } from '@tendon/protocol/masking';
import { freePort, itInFull, Seen } from '@tendon/testing';
import { expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../platform/config/config.ts';
import { createLogger } from '../../platform/logger.ts';
import { testServer } from '../../server.test-support.ts';
import { openTracing } from './open-tracing.ts';

const KEY = 'sk-4f9a71c2e8d05b36';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

interface Batch {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

/** Receives spans as OTLP over HTTP, and is the model as well: it calls the shell once, then answers. */
async function receiver() {
  const spans = new Seen<Span>();
  const headers: IncomingMessage['headers'][] = [];
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    if (request.url === '/v1/traces') {
      const { resourceSpans } = JSON.parse(body) as Batch;
      for (const span of resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))) spans.take(span);
      return void response.setHeader('content-type', 'application/json').end('{}');
    }
    headers.push(request.headers);
    const call = { index: 0, id: 'call_1', function: { name: 'execute_bash', arguments: JSON.stringify({ command: `echo ${KEY}` }) } };
    const delta = headers.length === 1 ? { tool_calls: [call] } : { content: 'Done.' };
    const choice = { index: 0, delta, finish_reason: headers.length === 1 ? 'tool_calls' : 'stop' };
    const chunk = { id: 'a1', model: 'gpt-4o', choices: [choice], usage: { prompt_tokens: 7, completion_tokens: 3 } };
    response.setHeader('content-type', 'text/event-stream').end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, headers };
}

async function tracedTask(env: Readonly<Record<string, string>> = {}) {
  const to = await receiver();
  const server = await testServer({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: to.url, LLM_MODEL: 'openai/gpt-4o', LLM_BASE_URL: `${to.url}/v1`, LLM_API_KEY: KEY, ...env },
  });
  const id = await server.create();
  const action = { action: 'message', args: { content: 'find the pelican' } };
  const sent = await server.post(`/api/conversations/${id}/events`, action, { traceparent: `00-${TRACE}-${PARENT}-01` });
  expect(sent.status).toBeLessThan(300);
  await to.spans.until(({ name }) => name.startsWith('invoke_agent'), 'the end of the agent');
  await server.close();
  const all = to.spans.all.filter(({ traceId }) => traceId === TRACE);
  const named = (name: string): readonly Span[] => all.filter((span) => span.name === name);
  return { ...to, id, all, named, raw: JSON.stringify(to.spans.all) };
}

itInFull(
  'SV1123, SV1124: a client’s trace goes on through the agent to model and tool, in the words of OpenTelemetry and without contents',
  async () => {
    const { id, named, headers, raw } = await tracedTask();
    const [request] = named('POST /api/conversations/:id/events');
    const [agent] = named('invoke_agent CodeActAgent');
    expect(request).toMatchObject({ parentSpanId: PARENT });
    expect(agent).toMatchObject({ parentSpanId: request!.spanId });
    const [first, second] = named('chat openai/gpt-4o');
    const [tool] = named('execute_tool execute_bash');
    for (const span of [first, second, tool, named('start sandbox')[0]]) expect(span).toMatchObject({ parentSpanId: agent!.spanId });
    expect(headers.map(({ traceparent }) => traceparent)).toEqual([first, second].map((span) => `00-${TRACE}-${span!.spanId}-01`));
    const chat = Object.fromEntries(first!.attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
    expect(chat).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.conversation.id': id,
      'gen_ai.usage.input_tokens': 7,
      'gen_ai.usage.output_tokens': 3,
    });
    for (const word of ['pelican', 'echo', KEY]) expect(raw).not.toContain(word);
  },
);

it('SV1124: contents are sent where the operator asks for them, with secrets hidden', async () => {
  const { raw } = await tracedTask({ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' });
  for (const word of ['pelican', 'echo <secret_hidden>', 'gen_ai.tool.call.result']) expect(raw).toContain(word);
  expect(raw).not.toContain(KEY);
});

it('SV1125: without a receiver spans are dropped, the log says so once, and nothing waits', async () => {
  const read = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}` });
  const lines = new Seen<string>();
  const mask = createMask([]);
  const logger = createLogger({ level: 'info', mask, destination: { write: (line) => lines.take(line) } });
  const tracing = openTracing((read.ok && read.config.tracing) as never, { mask, logger });
  for (let index = 0; index < 5000; index++) await tracing.frame(undefined, 'message', async () => index);
  await lines.until((line) => line.includes('does not take them'), 'the warning');
  await tracing.close();
  expect(lines.all).toHaveLength(1);
});
