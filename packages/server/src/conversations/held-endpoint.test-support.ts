/** For tests: a model's endpoint that answers when the test says so. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { Seen } from '@tendon/testing';

export interface AskedModel {
  /** The user's last message. */
  readonly task: string;
  /** Streams the beginning of an answer; `answer` goes on with it. */
  begin(text: string): void;
  answer(): void;
  refuse(status: number, headers: Readonly<Record<string, string>>): void;
}

/** An endpoint that answers when the test says so. */
export class HeldEndpoint {
  readonly asked = new Seen<AskedModel>();
  /** Requests that it has not answered. */
  open = 0;
  most = 0;
  url = '';

  static async start(): Promise<HeldEndpoint> {
    const endpoint = new HeldEndpoint();
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      endpoint.#take(Buffer.concat(chunks).toString(), response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => (server.closeAllConnections(), void server.close()));
    endpoint.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    return endpoint;
  }

  untilAsked(task: string): Promise<AskedModel> {
    return this.asked.until((one) => one.task === task, `a request for ${task}`);
  }

  #take(body: string, response: ServerResponse): void {
    this.open += 1;
    this.most = Math.max(this.most, this.open);
    response.once('close', () => (this.open -= 1));
    const chunk = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    const begin = (content: string): void => {
      if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ role: 'assistant', content }, null));
    };
    this.asked.take({
      task: /job-[a-z]/.exec(body)?.[0] ?? '',
      begin,
      answer: () => {
        begin('done');
        response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
      },
      refuse: (status, headers) => void response.writeHead(status, headers).end('{}'),
    });
  }
}
