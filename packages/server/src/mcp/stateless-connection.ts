/**
 * MCP as of 2026-07-28, over HTTP: no handshake and no session, each request says everything about itself. What a server wants to know
 * of a person is part of its answer, and the call is made again with it.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { VERSION } from '../platform/version.ts';
import { CAPABILITIES, type ElicitationAnswer } from './elicitation.ts';
import type { ListedTool } from './offered-tool.ts';
import { headerText, parameterHeaders, withReadableHeaders } from './parameter-headers.ts';

const STATELESS_VERSION = '2026-07-28';
const DISCOVER_MS = 5_000;
/** So often one call may ask a person. */
const MAX_ROUNDS = 8;
const MAX_ASKED = 8;

export interface StatelessOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Bounds what comes. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs: number;
}

type Json = Readonly<Record<string, unknown>>;

const Answer = z.union([
  z.looseObject({ id: z.string(), result: z.looseObject({}) }),
  z.looseObject({ id: z.string(), error: z.looseObject({ code: z.number(), message: z.string().default('') }) }),
]);
const Discovered = z.looseObject({ supportedVersions: z.array(z.string()) });
const InputRequired = z.looseObject({
  resultType: z.literal('input_required'),
  inputRequests: z.record(z.string(), z.unknown()).default({}),
  requestState: z.string().optional(),
});
const Elicitation = z.looseObject({ method: z.literal('elicitation/create'), params: z.unknown().optional() });

export class StatelessConnection {
  readonly #options: StatelessOptions;
  /** By the name of the tool. */
  #tools: ReadonlyMap<string, ListedTool> = new Map();

  private constructor(options: StatelessOptions) {
    this.#options = options;
  }

  /** Nothing where the server does not speak this version: then it is met with a handshake. */
  static async open(options: StatelessOptions, signal: AbortSignal): Promise<StatelessConnection | undefined> {
    const connection = new StatelessConnection(options);
    try {
      const found = Discovered.parse(await connection.request('server/discover', {}, { signal, timeoutMs: DISCOVER_MS }));
      return found.supportedVersions.includes(STATELESS_VERSION) ? connection : undefined;
    } catch {
      return undefined;
    }
  }

  /** Tools whose headers could not be sent are left out. */
  offered(listed: readonly ListedTool[]): readonly ListedTool[] {
    const tools = listed.filter(withReadableHeaders);
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    return tools;
  }

  /** Asks a person with `elicit` as often as the server wants to know something. */
  async call(
    name: string,
    args: Json,
    { elicit, ...options }: RequestOptions & { readonly elicit: (params: unknown) => Promise<ElicitationAnswer> },
  ): Promise<Json> {
    const headers = { 'mcp-name': headerText(name), ...parameterHeaders(this.#tools.get(name), args) };
    let more: Json = {};
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const result = await this.request('tools/call', { name, arguments: args, ...more }, { ...options, headers });
      const wanted = InputRequired.safeParse(result).data;
      if (!wanted) return result;
      const inputResponses: Record<string, unknown> = {};
      for (const [key, asked] of Object.entries(wanted.inputRequests).slice(0, MAX_ASKED)) {
        const { data } = Elicitation.safeParse(asked);
        if (!data) throw new Error('it asks for what this client does not offer');
        inputResponses[key] = await elicit(data.params);
      }
      more = { inputResponses, ...(wanted.requestState !== undefined && { requestState: wanted.requestState }) };
    }
    throw new Error(`it asked ${MAX_ROUNDS} times`);
  }

  async request(
    method: string,
    params: Json,
    { signal, timeoutMs, headers }: RequestOptions & { readonly headers?: Readonly<Record<string, string>> },
  ): Promise<Json> {
    const id = randomUUID();
    const { url, fetch, headers: own } = this.#options;
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        ...own,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': STATELESS_VERSION,
        'mcp-method': method,
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: META } }),
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
    });
    if (!response.ok || !response.body) throw new Error(`it answered with the status ${response.status}`);
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    const answer = Answer.safeParse(isStream ? await answerIn(response.body, id) : await response.json()).data;
    if (answer?.id !== id) throw new Error('what it answered is no answer to the request');
    if ('error' in answer)
      throw new Error(String((answer.error as { message: string }).message).slice(0, 1_000) || 'it reported an error without words');
    return answer.result as Json;
  }
}

const META = {
  'io.modelcontextprotocol/protocolVersion': STATELESS_VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'tendon', version: VERSION },
  'io.modelcontextprotocol/clientCapabilities': CAPABILITIES,
};

/** Notifications come before it; nothing is read after it. */
async function answerIn(body: ReadableStream<Uint8Array>, id: string): Promise<unknown> {
  let rest = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)) {
    const events = (rest + piece).replaceAll('\r\n', '\n').split('\n\n');
    rest = events.pop()!;
    for (const event of events) {
      const data = event.split('\n').flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trimStart()] : []));
      const message: unknown = data.length > 0 ? JSON.parse(data.join('\n')) : undefined;
      if (typeof message === 'object' && message !== null && 'id' in message && message.id === id) return message;
    }
  }
  return undefined;
}
