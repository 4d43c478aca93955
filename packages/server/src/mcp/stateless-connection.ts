/**
 * MCP as of 2026-07-28: no handshake and no session, each request says everything about itself. What a server wants to know of a person
 * is part of its answer, and the call is made again with it; changes of its tools are announced only to who listens.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { VERSION } from '../platform/version.ts';
import { CAPABILITIES, type ElicitationAnswer } from './elicitation.ts';
import type { ListedTool } from './offered-tool.ts';
import { headerText, parameterHeaders, withReadableHeaders } from './parameter-headers.ts';

export const STATELESS_VERSION = '2026-07-28';
/** Between two tries to hear of changes: the first wait, and the longest. */
const LISTEN_AGAIN_MS = 5_000;
const MAX_LISTEN_AGAIN_MS = 300_000;
/** So often one call may ask a person. */
const MAX_ROUNDS = 8;
const MAX_ASKED = 8;

export interface WireRequest {
  readonly id: string;
  readonly method: string;
  readonly params: Json;
  /** Sent too, where requests have headers. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Carries a request to the server and resolves with its answer as it came. */
export type Exchange = (
  request: WireRequest,
  options: { readonly signal: AbortSignal; readonly onNotification?: (message: object) => void },
) => Promise<unknown>;

export interface RequestOptions {
  readonly signal: AbortSignal;
  /** Default: as long as the signal allows. */
  readonly timeoutMs?: number;
}

type Json = Readonly<Record<string, unknown>>;

const Answer = z.union([
  z.looseObject({ id: z.string(), result: z.looseObject({}) }),
  z.looseObject({ id: z.string(), error: z.looseObject({ code: z.number(), message: z.string().default('') }) }),
]);
const Discovered = z.looseObject({
  supportedVersions: z.array(z.string()),
  capabilities: z.looseObject({ tools: z.looseObject({ listChanged: z.boolean().optional() }).optional() }).optional(),
});
const InputRequired = z.looseObject({
  resultType: z.literal('input_required'),
  inputRequests: z.record(z.string(), z.unknown()).default({}),
  requestState: z.string().optional(),
});
const Elicitation = z.looseObject({ method: z.literal('elicitation/create'), params: z.unknown().optional() });

export class StatelessConnection {
  readonly #exchange: Exchange;
  /** By the name of the tool. */
  #tools: ReadonlyMap<string, ListedTool> = new Map();
  #announcesChanges = false;

  private constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** Nothing where the server does not speak this version: then it is met with a handshake. */
  static async open(exchange: Exchange, options: Required<RequestOptions>): Promise<StatelessConnection | undefined> {
    const connection = new StatelessConnection(exchange);
    try {
      const found = Discovered.parse(await connection.request('server/discover', {}, options));
      connection.#announcesChanges = found.capabilities?.tools?.listChanged ?? false;
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

  /** Until the signal aborts: `onChange` when the server has other tools, and when it could not be heard for a while. */
  async listen(onChange: () => void, signal: AbortSignal): Promise<void> {
    const options = { signal, onNotification: (message: object) => TOOLS_CHANGED.safeParse(message).success && onChange() };
    const asked = { notifications: { toolsListChanged: true } };
    if (!this.#announcesChanges) return;
    for (let waitMs = LISTEN_AGAIN_MS; ; waitMs = Math.min(2 * waitMs, MAX_LISTEN_AGAIN_MS)) {
      await this.request('subscriptions/listen', asked, options).catch(() => undefined);
      await delay(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      onChange();
    }
  }

  async request(
    method: string,
    params: Json,
    options: RequestOptions & { readonly headers?: Readonly<Record<string, string>>; readonly onNotification?: (message: object) => void },
  ): Promise<Json> {
    const { timeoutMs, headers = {}, onNotification } = options;
    const signal = timeoutMs === undefined ? options.signal : AbortSignal.any([AbortSignal.timeout(timeoutMs), options.signal]);
    const request = { id: randomUUID(), method, params: { ...params, _meta: META }, headers };
    const answer = Answer.safeParse(await this.#exchange(request, { signal, ...(onNotification && { onNotification }) })).data;
    if (answer?.id !== request.id) throw new Error('what it answered is no answer to the request');
    if ('error' in answer)
      throw new Error(String((answer.error as { message: string }).message).slice(0, 1_000) || 'it reported an error without words');
    return answer.result as Json;
  }
}

const TOOLS_CHANGED = z.looseObject({ method: z.literal('notifications/tools/list_changed') });

const META = {
  'io.modelcontextprotocol/protocolVersion': STATELESS_VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'tendon', version: VERSION },
  'io.modelcontextprotocol/clientCapabilities': CAPABILITIES,
};
