import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { readLines } from '@tendon/protocol/node';
import { ApiError, ApiUnreachable } from './api-error.ts';
import type { ClusterAccess } from './cluster-access.ts';

export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Includes the query. */
  readonly path: string;
  readonly body?: unknown;
  /** The content type of the body. Default: JSON. */
  readonly type?: string;
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
}

/** Sends HTTPS requests to the API server of one cluster. Owns the connections; does not interpret or retry requests. */
export interface ApiClient {
  /** The parsed answer. Rejects with `ApiError` or `ApiUnreachable`, or with the signal's reason. */
  json<T>(call: ApiCall): Promise<T>;
  text(call: ApiCall): Promise<string>;
  /** The parsed lines of a streaming answer (a watch). Does not keep the process alive. */
  lines<T>(call: ApiCall & { readonly signal: AbortSignal }): AsyncIterable<T>;
}

const DEADLINE_MS = 30_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** etcd limits an object to 1.5 MiB; its JSON is larger. */
const MAX_LINE = 16 * 1024 * 1024;

export function createApiClient(access: ClusterAccess): ApiClient {
  const { host } = new URL(access.url);
  const { ca, certificate } = access;
  const agent = new Agent({ keepAlive: true, maxSockets: 32, ...(ca !== undefined && { ca }), ...certificate });

  function send({ method, path, body, type = 'application/json' }: ApiCall, signal: AbortSignal): Promise<IncomingMessage> {
    const content = body === undefined ? undefined : JSON.stringify(body);
    const token = access.token();
    const headers = {
      accept: 'application/json',
      'user-agent': 'tendon',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(content !== undefined && { 'content-type': type, 'content-length': Buffer.byteLength(content) }),
    };
    return new Promise((resolve, reject) => {
      const outgoing = httpsRequest(access.url + path, { agent, method, headers, signal }, resolve);
      outgoing.on('error', (error: NodeJS.ErrnoException) => reject(signal.aborted ? signal.reason : new ApiUnreachable(host, error)));
      outgoing.end(content);
    });
  }

  async function open(call: ApiCall, signal: AbortSignal): Promise<IncomingMessage> {
    const response = await send(call, signal);
    const status = response.statusCode ?? 500;
    if (status < 300) return response;
    throw errorOf(status, await read(response, host, signal));
  }

  async function text(call: ApiCall): Promise<string> {
    const deadline = AbortSignal.timeout(call.deadlineMs ?? DEADLINE_MS);
    const signal = call.signal ? AbortSignal.any([call.signal, deadline]) : deadline;
    try {
      return await read(await open(call, signal), host, signal);
    } catch (error) {
      if (deadline.aborted && !call.signal?.aborted)
        throw new ApiUnreachable(host, Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' }));
      throw error;
    }
  }

  return {
    text,
    json: async <T>(call: ApiCall) => JSON.parse(await text(call)) as T,
    async *lines<T>(call: ApiCall & { readonly signal: AbortSignal }): AsyncGenerator<T> {
      const response = await open(call, call.signal);
      response.socket.unref();
      try {
        for await (const line of readLines(response, { maxLine: MAX_LINE, maxTotal: Infinity }))
          if (line.trim() !== '') yield JSON.parse(line) as T;
      } finally {
        response.destroy();
      }
    },
  };
}

async function read(response: IncomingMessage, host: string, signal: AbortSignal): Promise<string> {
  let total = 0;
  const bounded = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      total += chunk.length;
      if (total > MAX_ANSWER_BYTES) throw new ApiError(500, `the Kubernetes API answered with more than ${MAX_ANSWER_BYTES} bytes`);
      yield chunk;
    }
  };
  try {
    return (await buffer(bounded())).toString('utf8');
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof ApiError ? error : new ApiUnreachable(host, error as NodeJS.ErrnoException);
  }
}

/**
 * Parses a `Status` of the API server, or the message of a proxy in front of it.
 * @internal
 */
export function errorOf(status: number, body: string): ApiError {
  try {
    const { message, reason } = JSON.parse(body) as { message?: unknown; reason?: unknown };
    return new ApiError(status, String(message ?? body).trim(), String(reason ?? ''));
  } catch {
    return new ApiError(status, body.trim().slice(0, 500));
  }
}
