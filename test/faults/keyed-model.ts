/** A model behind an OpenAI-compatible endpoint that answers who shows its key, and remembers what everybody showed. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface KeyedModel {
  /** With `/v1`. */
  readonly url: string;
  /** What each request had as its authorization, oldest first. */
  readonly shown: readonly string[];
}

/** It answers every request in the same words; ends with the test. */
export async function keyedModel(key: string, words: string): Promise<KeyedModel> {
  const shown: string[] = [];
  const server = createServer((request, response) => {
    request.resume();
    if (request.method !== 'POST') return void response.writeHead(404).end();
    shown.push(request.headers.authorization ?? '');
    if (request.headers.authorization !== `Bearer ${key}`) {
      return void response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"no such key"}}');
    }
    const chunk = (choice: object): string =>
      `data: ${JSON.stringify({ id: 'a', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, ...choice }] })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ delta: { role: 'assistant', content: words }, finish_reason: null }));
    response.end(`${chunk({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, shown };
}
