import http from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * An OpenAI-compatible endpoint without latency for the benches. A user message `BENCH:<steps>:<command>` is answered with that
 * many shell calls and then a finish. Stateless: the step is the number of tool results after the last user message.
 */
export interface ModelServer {
  readonly url: string;
  /** Of each request since `reset`: when it had arrived, when its answer had been sent (ms, monotonic), and its size. */
  readonly requests: { arrived: number; answered: number; bytes: number; hasTools: boolean }[];
  reset(): void;
  close(): void;
}

interface ChatRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly {
    readonly function: {
      readonly name: string;
      readonly parameters?: { readonly properties?: object; readonly required?: readonly string[] };
    };
  }[];
}

const SHELL = /^(execute_bash|bash|terminal|shell)$/;

export async function startModelServer(): Promise<ModelServer> {
  const requests: ModelServer['requests'] = [];
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const arrived = performance.now();
      const body = Buffer.concat(chunks);
      if (request.url?.endsWith('/models')) {
        response.end(JSON.stringify({ object: 'list', data: [{ id: 'gpt-4o', object: 'model' }] }));
        return;
      }
      const chat = JSON.parse(body.toString()) as ChatRequest;
      answer(chat, response);
      requests.push({ arrived, answered: performance.now(), bytes: body.length, hasTools: (chat.tools?.length ?? 0) > 0 });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    reset: () => requests.splice(0),
    close: () => server.closeAllConnections(),
  };
}

const textOf = (content: unknown): string =>
  typeof content === 'string' ? content : Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? '').join('') : '';

function answer(chat: ChatRequest, response: http.ServerResponse): void {
  const lastUser = chat.messages.findLastIndex((message) => message.role === 'user' && textOf(message.content).includes('BENCH:'));
  const [, steps = '0', command = 'true'] = /BENCH:(\d+):([^\n]*)/.exec(textOf(chat.messages[lastUser]?.content)) ?? [];
  const step = chat.messages.slice(lastUser + 1).filter((message) => message.role === 'tool').length;
  const shell = chat.tools?.find((tool) => SHELL.test(tool.function.name));
  const finish = chat.tools?.find((tool) => tool.function.name === 'finish');
  if (shell && step < Number(steps)) respond(chat, response, call(shell, { command: command.replaceAll('{i}', String(step)) }, step));
  else if (finish && lastUser >= 0) respond(chat, response, call(finish, { message: 'Done.' }, step));
  else respond(chat, response, { content: 'Bench' });
}

function call(tool: NonNullable<ChatRequest['tools']>[number], given: Record<string, unknown>, step: number) {
  const args: Record<string, unknown> = { ...given };
  for (const name of tool.function.parameters?.required ?? []) args[name] ??= name === 'security_risk' ? 'LOW' : 'true';
  return {
    tool_calls: [
      {
        index: 0,
        id: `call_${step}_${Date.now()}`,
        type: 'function',
        function: { name: tool.function.name, arguments: JSON.stringify(args) },
      },
    ],
  };
}

function respond(chat: ChatRequest, response: http.ServerResponse, message: { content?: string; tool_calls?: unknown[] }): void {
  const id = `chatcmpl-${Date.now()}-${Math.random().toString(36).slice(2)}`;
  const finish_reason = message.tool_calls ? 'tool_calls' : 'stop';
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
  if (!chat.stream) {
    const choice = { index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ id, object: 'chat.completion', created: 0, model: chat.model, choices: [choice], usage }));
    return;
  }
  response.setHeader('content-type', 'text/event-stream');
  const chunk = (delta: object, reason: string | null, extra = {}) =>
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created: 0, model: chat.model, choices: [{ index: 0, delta, finish_reason: reason }], ...extra })}\n\n`;
  response.end(`${chunk({ role: 'assistant', ...message }, null)}${chunk({}, finish_reason, { usage })}data: [DONE]\n\n`);
}
