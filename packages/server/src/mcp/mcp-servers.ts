/**
 * One conversation's connections to the MCP servers that the settings name. They are made before the first turn that could use
 * them, and end with the conversation.
 *
 * MS1  A server that cannot be reached costs a turn at most `WAIT_MS`, once; it is tried again after `AGAIN_MS`, and the others serve.
 * MS2  A call is made once. What is not certain to have ended is reported as unknown, and not made again.
 * MS3  Each turn asks the settings anew: who is not named any more is let go, and one that was changed is met as another.
 * MS4  A tool is offered as it was first described in this conversation; one that is described otherwise, now or since an earlier
 *      conversation, is reported.
 */
import type { Duplex } from 'node:stream';
import type { AskUser, Clock, ExternalTools, Tool } from '@tendon/core';
import { Mutex } from '@tendon/protocol/async';
import { ErrorObservation, McpObservation, type Action, type McpConfig, type ObservationDraft } from '@tendon/protocol';
import { connectMcpServer, type ToolConnection } from './connect-mcp-server.ts';
import { offeredName, offeredTool, type ListedTool } from './offered-tool.ts';
import { elicit, type ElicitationAnswer } from './elicitation.ts';
import type { ToolPins } from './tool-pins.ts';
import { resultPictures, resultText } from './tool-result.ts';
import { findTools, foundText, MAX_SHOWN, TOOL_SEARCH, toolSearch } from './tool-search.ts';
import { mcpServers, type McpServer, type RemoteMcpServer } from './mcp-server.ts';

export interface McpServersOptions {
  readonly config: () => McpConfig | undefined;
  /** `signal`: the conversation has ended, or the server is not named any more. */
  readonly openProcess: (signal: AbortSignal) => Promise<Duplex>;
  /** How an address is asked; default: as this process asks any. */
  readonly fetchFor?: (server: RemoteMcpServer) => typeof fetch | undefined;
  /** The login to a server, '' where nobody has logged in, nothing where nobody can: with another login it is met again. */
  readonly loginOf?: (server: RemoteMcpServer) => string | undefined;
  /** Somebody looks at the conversation who can answer a question; default: nobody does. */
  readonly isAttended?: () => boolean;
  readonly clock: Clock;
  readonly pins: Pick<ToolPins, 'changed'>;
  /** One sentence for the clients that watch: a server cannot be used, and why. */
  readonly onProblem: (sentence: string) => void;
}

/** So long a turn waits for servers that are just being met. */
const WAIT_MS = 10_000;
/** So long meeting one may take: programs may have to be fetched first. */
const CONNECT_MS = 60_000;
const AGAIN_MS = 60_000;
const MAX_OFFERED = 1_024;
const MAX_NAMED = 20;
/** So long a person may take to answer all that a server asks at once. */
const ANSWER_MS = 10 * 60_000;

interface Entry {
  readonly server: McpServer;
  readonly ended: AbortController;
  readonly met: Promise<void>;
  connection?: ToolConnection;
  tools: readonly ListedTool[];
  /** A turn has waited for it; those after it do not. */
  wasAwaited?: true;
  failedAt?: number;
}

interface ElicitedBy {
  readonly server: string;
  readonly signal: AbortSignal;
  readonly ask: AskUser;
}

interface Offer {
  readonly entry: Entry;
  /** As the server names it. */
  readonly name: string;
  readonly tool: Tool;
}

export class McpServers implements ExternalTools {
  readonly #options: McpServersOptions;
  readonly #entries = new Map<string, Entry>();
  #offers: ReadonlyMap<string, Offer> = new Map();
  /** Names of tools that a search of the model has found. */
  readonly #found = new Set<string>();
  /** By server and name. */
  readonly #firstMet = new Map<string, ListedTool>();
  readonly #asking = new Mutex();
  #isClosed = false;

  constructor(options: McpServersOptions) {
    this.#options = options;
  }

  async offered({ signal }: { readonly signal: AbortSignal }): Promise<readonly Tool[]> {
    const { config, clock } = this.#options;
    const named = config();
    const servers = named && !this.#isClosed ? mcpServers(named) : [];
    if (servers.length === 0 && this.#entries.size === 0) return [];
    await this.#meet(servers);
    const fresh = [...this.#entries.values()].filter(({ wasAwaited }) => !wasAwaited);
    for (const entry of fresh) entry.wasAwaited = true;
    const over = new AbortController();
    const limit = clock.sleep(WAIT_MS, { signal: AbortSignal.any([signal, over.signal]) }).catch(() => undefined);
    await Promise.race([Promise.all(fresh.map(({ met }) => met)), limit]);
    over.abort();
    this.#collect();
    return this.#shown();
  }

  async call({ args }: Action<'call_tool_mcp'>, { signal, ask }: Parameters<ExternalTools['call']>[1]): Promise<ObservationDraft> {
    if (args.name === TOOL_SEARCH) return this.#search(args.arguments);
    const offer = this.#offers.get(args.name);
    const connection = offer?.entry.connection;
    if (!offer || !connection) return failure(`Not executed: the server of the tool "${args.name}" cannot be reached now.`);
    try {
      const answer = (params: unknown): Promise<ElicitationAnswer> =>
        this.#elicit(params, { server: offer.entry.server.name, signal, ask });
      const result = await connection.call(offer.name, args.arguments, { signal, elicit: answer });
      const pictures = resultPictures(result);
      const extras = { name: args.name, arguments: args.arguments, ...(pictures.length > 0 && { image_urls: pictures }) };
      return McpObservation.create(resultText(result), extras);
    } catch (cause) {
      const why = signal.aborted ? 'it was cancelled' : (cause as Error).message;
      return failure(`The tool "${args.name}" gave no result: ${why}. It may have been carried out all the same.`);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#entries.keys()].map((key) => this.#disconnect(key)));
  }

  /** Begins with what is new, or may be tried again, and ends with what is not named any more. */
  async #meet(servers: readonly McpServer[]): Promise<void> {
    const now = this.#options.clock.now().getTime();
    const wanted = new Map(servers.map((server) => [this.#keyOf(server), server]));
    for (const [key, entry] of this.#entries) {
      const isDue = entry.failedAt !== undefined && now - entry.failedAt >= AGAIN_MS;
      if (!wanted.has(key) || isDue) await this.#disconnect(key);
    }
    for (const [key, server] of wanted) if (!this.#entries.has(key)) this.#begin(key, server);
  }

  #begin(key: string, server: McpServer): void {
    const ended = new AbortController();
    const entry: Entry = { server, ended, tools: [], met: Promise.resolve().then(() => this.#connect(entry)) };
    this.#entries.set(key, entry);
  }

  async #connect(entry: Entry): Promise<void> {
    const signal = AbortSignal.any([entry.ended.signal, AbortSignal.timeout(CONNECT_MS)]);
    const { onProblem } = this.#options;
    const openProcess = (): Promise<Duplex> => this.#options.openProcess(entry.ended.signal);
    try {
      const onTools = (tools: readonly ListedTool[]): void => {
        void this.#reportDrift(entry.server, tools);
        entry.tools = tools;
      };
      const connection = await connectMcpServer(entry.server, { signal, openProcess, onTools, fetch: this.#fetchFor(entry.server) });
      if (entry.ended.signal.aborted) return await connection.close();
      entry.connection = connection;
      entry.tools = connection.tools;
      void this.#reportDrift(entry.server, connection.tools);
      connection.onEnd(() => this.#lost(entry));
    } catch (cause) {
      this.#lost(entry);
      if (!entry.ended.signal.aborted)
        onProblem(`The tools of "${entry.server.name}" cannot be used: ${(cause as Error).message}${this.#loginHint(entry.server, cause)}`);
    }
  }

  #fetchFor(server: McpServer): typeof fetch | undefined {
    return server.kind === 'stdio' ? undefined : this.#options.fetchFor?.(server);
  }

  #keyOf(server: McpServer): string {
    return JSON.stringify([server, this.#loginOf(server)]);
  }

  #loginOf(server: McpServer): string | undefined {
    return server.kind === 'stdio' ? undefined : this.#options.loginOf?.(server);
  }

  #loginHint(server: McpServer, cause: unknown): string {
    const isRefused = (cause as Error).message.endsWith(' status 401') && this.#loginOf(server) !== undefined;
    return isRefused ? `. Log in to it with "tendon mcp login ${server.name}", or give it an api_key` : '';
  }

  #lost(entry: Entry): void {
    delete entry.connection;
    entry.tools = [];
    entry.failedAt = this.#options.clock.now().getTime();
  }

  async #disconnect(key: string): Promise<void> {
    const entry = this.#entries.get(key);
    this.#entries.delete(key);
    entry?.ended.abort();
    await entry?.connection?.close().catch(() => undefined);
  }

  #collect(): void {
    const offers = new Map<string, Offer>();
    for (const entry of this.#entries.values()) {
      for (const tool of entry.tools) {
        const name = offeredName(entry.server.name, tool.name);
        const isFull = offers.has(name) || offers.size >= MAX_OFFERED || name === TOOL_SEARCH;
        const offered = isFull ? undefined : offeredTool(name, this.#asFirstMet(entry.server, tool));
        if (offered) offers.set(name, { entry, name: tool.name, tool: offered });
      }
    }
    this.#offers = offers;
  }

  #asFirstMet(server: McpServer, tool: ListedTool): ListedTool {
    const id = `${JSON.stringify(server)} ${tool.name}`;
    const first = this.#firstMet.get(id) ?? tool;
    this.#firstMet.set(id, first);
    return first;
  }

  /** One question at a time: calls may run side by side. */
  #elicit(params: unknown, { server, signal, ask }: ElicitedBy): Promise<ElicitationAnswer> {
    return this.#asking.run(async () => {
      if (!(this.#options.isAttended?.() ?? false)) return { action: 'decline' };
      const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
      return elicit(params, server, (question) => ask(question, limit));
    });
  }

  /** All of them, or those that were found and a search for the others. */
  #shown(): readonly Tool[] {
    const all = [...this.#offers.values()];
    if (all.length <= MAX_SHOWN) return all.map(({ tool }) => tool);
    const servers = new Map<string, number>();
    for (const { entry } of all) servers.set(entry.server.name, (servers.get(entry.server.name) ?? 0) + 1);
    return [toolSearch(servers), ...all.flatMap(({ tool }) => (this.#found.has(tool.spec.name) ? [tool] : []))];
  }

  #search(args: Readonly<Record<string, unknown>>): ObservationDraft {
    const query = String(args.query);
    const found = findTools(
      [...this.#offers.values()].map(({ tool }) => tool),
      query,
    );
    for (const { spec } of found) this.#found.add(spec.name);
    return McpObservation.create(foundText(found, query), { name: TOOL_SEARCH, arguments: { query } });
  }

  /** Only reported: the storage that cannot be asked costs the report, not the tools. */
  async #reportDrift(server: McpServer, tools: readonly ListedTool[]): Promise<void> {
    const { pins, onProblem } = this.#options;
    const changed = await pins.changed(server, tools).catch(() => []);
    if (changed.length === 0) return;
    const names = changed.slice(0, MAX_NAMED).join(', ');
    onProblem(`The MCP server "${server.name}" describes these tools otherwise than before, see that you still trust it: ${names}`);
  }
}

function failure(words: string): ObservationDraft {
  return ErrorObservation.create(words, { error_id: 'AGENT_ERROR$MCP' });
}
