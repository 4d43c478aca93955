/**
 * Streams one request to another server, and its answer back.
 *
 * PR1  No byte of the body is sent before the other server asks for it (`Expect: 100-continue`), so a request that it refuses, or that
 *      does not reach it, can be sent to a third one.
 * PR2  When the client disconnects, the request to the other server is aborted. When the other server breaks off its answer, so does this
 *      one.
 */
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { ServerNode } from '@tendon/core';
import type { OpenPipes } from './open-pipes.ts';
import { misdirectedTo, passedHeaders, without } from './passed-headers.ts';
import type { PeerHttp } from './peer-http.ts';

/** With these errors, nothing was sent. */
const NOT_CONNECTED: ReadonlySet<string> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND']);
export type PipeOutcome =
  /** The client has its answer or a part of it, or has disconnected. */
  | { readonly state: 'answered' }
  /** Nothing of the body was sent. `owner`: the id of the server that has the conversation; empty when it is not known. */
  | { readonly state: 'misdirected'; readonly owner: string }
  /** `isTaken`: the other server may have begun to process the request. */
  | { readonly state: 'unreachable'; readonly isTaken: boolean };

export interface RequestPipe {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly server: ServerNode;
  /** Additional names and values. */
  readonly headers: readonly string[];
  readonly http: PeerHttp;
  readonly pipes: OpenPipes;
}

export function pipeRequest(pipe: RequestPipe): Promise<PipeOutcome> {
  const { request, response, server, pipes } = pipe;
  const { promise, resolve } = Promise.withResolvers<PipeOutcome>();
  const hasBody = bringsBody(request);
  const outgoing = begin(pipe, hasBody);
  let isTaken = !hasBody && request.method !== 'GET' && request.method !== 'HEAD';
  let hasAnswer = false;
  const ended = pipes.add(server, () => outgoing.destroy(new Error('the server is gone')));
  const settle = (outcome: PipeOutcome): void => {
    ended();
    resolve(outcome);
  };
  response.once('close', () => {
    outgoing.destroy();
    settle({ state: 'answered' });
  });
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    // Once an answer has begun, its own end or error settles this.
    if (!hasAnswer) settle({ state: 'unreachable', isTaken: isTaken && !NOT_CONNECTED.has(error.code ?? '') });
  });
  outgoing.once('continue', () => {
    isTaken = true;
    request.on('error', () => outgoing.destroy());
    request.pipe(outgoing);
  });
  outgoing.once('response', (answer) => {
    hasAnswer = true;
    const owner = isTaken && hasBody ? undefined : misdirectedTo(answer);
    if (owner === undefined) return passAnswer(answer, response);
    answer.resume();
    settle({ state: 'misdirected', owner });
  });
  return promise;
}

function bringsBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function begin({ request, server, headers, http }: RequestPipe, hasBody: boolean): ClientRequest {
  const isLengthKnown = request.headers['transfer-encoding'] === undefined;
  const outgoing = http.request(server, {
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers: [
      ...without(passedHeaders(request), 'expect', ...(hasBody && isLengthKnown ? [] : ['content-length'])),
      ...headers,
      ...bodyHeaders(request, hasBody, isLengthKnown),
    ],
  });
  if (hasBody) outgoing.flushHeaders();
  else outgoing.end();
  return outgoing;
}

/** A request without a body still needs a length: otherwise Node announces a chunked body. */
function bodyHeaders({ method }: IncomingMessage, hasBody: boolean, isLengthKnown: boolean): readonly string[] {
  if (hasBody) return ['Expect', '100-continue', ...(isLengthKnown ? [] : ['Transfer-Encoding', 'chunked'])];
  return method === 'GET' || method === 'HEAD' ? [] : ['Content-Length', '0'];
}

function passAnswer(answer: IncomingMessage, response: ServerResponse): void {
  answer.on('error', () => response.destroy());
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', passedHeaders(answer));
  response.flushHeaders();
  answer.pipe(response);
}
