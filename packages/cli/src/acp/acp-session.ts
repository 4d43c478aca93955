/**
 * Owns one conversation on behalf of an editor: its connection, what the editor was sent of it, and the prompt that is being answered.
 *
 * ACP1  At most one prompt is answered at a time; it ends with the state of the agent that ends its turn.
 * ACP2  Each action that waits is asked about once.
 * ACP3  A cancelled prompt ends at once where the server is away: what of it was not sent never is, and what was is stopped later.
 */
import { randomUUID } from 'node:crypto';
import {
  RequestError,
  type ContentBlock,
  type PermissionOption,
  type SessionUpdate,
  type StopReason,
  type ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import { connect, type ConversationConnection, type Rest } from '@tendon/client';
import type { Action, Event } from '@tendon/protocol';
import type { AttachedServer } from '../attach/attached-server.ts';
import { followConnection } from '../attach/follow-connection.ts';
import { ServerContact, type Contact, type ContactPlace } from '../attach/server-contact.ts';
import { endOf } from '../run/outcome.ts';
import { isTask } from '../run/task-place.ts';
import { CONVERSATION_COMMANDS } from '../terminal/conversation-commands.ts';
import { decisionWords, waitingAction } from '../terminal/waiting.ts';
import { AcpUpdates, usageUpdates } from './acp-updates.ts';
import { promptContent } from './prompt-content.ts';
import { sessionOptions } from './session-options.ts';

interface Prompt {
  readonly clientId: string;
  readonly done: PromiseWithResolvers<StopReason>;
  hasBegun: boolean;
  isCancelled: boolean;
}

export class AcpSession implements ContactPlace {
  readonly id: string;
  readonly server: AttachedServer;
  readonly connection: ConversationConnection;
  readonly #client: Editor;
  readonly #contact = new ServerContact(this);
  readonly #updates: AcpUpdates;
  /** Updates are sent in the order of the events. */
  #sending: Promise<void> = Promise.resolve();
  #prompt: Prompt | undefined;
  #askedAbout = -1;
  /** While earlier events arrive: whether they are sent, because the session is loaded, or only read. */
  #past: 'loaded' | 'known' | undefined;

  private constructor(id: string, { client, server, folder, isLoaded }: AcpSessionOptions) {
    this.id = id;
    this.#client = client;
    this.server = server;
    this.#updates = new AcpUpdates(folder);
    this.#past = isLoaded ? 'loaded' : 'known';
    const address = { baseUrl: () => server.rest.baseUrl, apiKey: () => server.rest.apiKey() };
    this.connection = connect(id, { ...address, offlineAfterMs: OFFLINE_MS });
  }

  /** Resolves when the existing events have been sent, if the session is loaded. */
  static async open(id: string, options: AcpSessionOptions): Promise<AcpSession> {
    const session = new AcpSession(id, options);
    const connection = session.connection;
    const { connection: now } = await connection.when(
      ({ loaded, connection: { state } }) => loaded || state === 'refused' || state === 'offline',
      options.signal,
    );
    if (now.state === 'refused' || now.state === 'offline') {
      connection.close();
      throw now.state === 'refused' ? RequestError.resourceNotFound(id) : unreachable();
    }
    followConnection(connection, {
      event: (event) => session.#event(event),
      frame: (frame) => {
        if (frame.volatile === 'delta' && frame.part === 'text') session.#send(session.#updates.delta(frame.text, frame.offset));
      },
      ended: () => session.#end('cancelled'),
      connection: (reached) => session.#contact.take(reached),
      offline: () => session.#lost(),
    });
    session.#past = undefined;
    session.#reportUsage();
    await session.#sending;
    session.#decide();
    return session;
  }

  /** Throws at once if the prompt is refused. */
  prompt(blocks: readonly ContentBlock[]): Promise<StopReason> {
    if (this.#prompt) throw RequestError.invalidRequest(undefined, 'another prompt is being answered');
    const { text, imageUrls } = promptContent(blocks);
    const [, name = '', words = ''] = /^\/(\S+)\s*(.*)$/s.exec(text.trim()) ?? [];
    if (Object.hasOwn(CONVERSATION_COMMANDS, name)) return this.#carryOut(CONVERSATION_COMMANDS[name]!, words);
    const { state } = this.connection.getSnapshot().connection;
    if (state === 'offline' || state === 'refused' || state === 'closed') throw unreachable();
    const prompt: Prompt = { clientId: randomUUID(), done: Promise.withResolvers(), hasBegun: false, isCancelled: false };
    this.#prompt = prompt;
    if (!this.connection.say(text, { clientId: prompt.clientId, imageUrls })) {
      this.#prompt = undefined;
      throw RequestError.internalError(undefined, 'the server takes no message now');
    }
    if (this.#contact.isAway) this.contactChanged('away');
    return prompt.done.promise.then((reason) => this.#sending.then(() => reason));
  }

  /** Sends the editor the list of commands. */
  advertise(): void {
    const availableCommands = Object.entries(CONVERSATION_COMMANDS).map(([name, { does: description, hint }]) => ({
      name,
      description,
      ...(hint !== undefined && { input: { hint } }),
    }));
    this.#send([{ sessionUpdate: 'available_commands_update', availableCommands }]);
  }

  async #carryOut({ run }: (typeof CONVERSATION_COMMANDS)[string], words: string): Promise<StopReason> {
    const say = (text: string) => this.#send([{ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }]);
    try {
      await run({ rest: this.#rest, connection: this.connection, say }, words);
    } catch (error) {
      say((error as Error).message);
    }
    await this.reportOptions();
    await this.#sending;
    return 'end_turn';
  }

  /** Sends the editor the current choices. */
  async reportOptions(): Promise<void> {
    const configOptions = await sessionOptions(this.#rest, this.id).catch(() => undefined);
    if (!configOptions) return;
    const currentModeId = configOptions.find(({ id }) => id === 'agent')!.currentValue;
    this.#send([
      { sessionUpdate: 'config_option_update', configOptions },
      { sessionUpdate: 'current_mode_update', currentModeId },
    ]);
  }

  /** Also without a prompt, when the session was resumed in the middle of a turn. */
  get isAtWork(): boolean {
    return AT_WORK.has(this.connection.getSnapshot().state.agentState);
  }

  /** Resolves when the agent rests, or the session is closed. */
  async rested(): Promise<void> {
    await this.connection.when(({ state }) => !AT_WORK.has(state.agentState)).catch(() => undefined);
    await this.#sending;
  }

  cancel(): void {
    if (!this.#prompt && !this.isAtWork) return;
    const prompt = this.#prompt;
    if (prompt) prompt.isCancelled = true;
    const isUnsent = this.connection
      .getSnapshot()
      .outbox.some(({ clientId, state }) => clientId === prompt?.clientId && state === 'waiting');
    if ((!isUnsent && this.#contact.stop()) || !prompt) return;
    this.connection.cancel(prompt.clientId); // ACP3
    this.#end('cancelled');
  }

  contactChanged(now: Contact): void {
    if (!this.#prompt) return;
    if (now === 'away') this.#say('The server is away; reconnecting. Cancel to leave it.');
    if (now === 'back') this.#say('The server is back.');
  }

  notFound({ message }: Error): void {
    if (this.#prompt) this.#say(message);
  }

  /** Words of this program, in a paragraph of their own. */
  #say(text: string): void {
    this.#send([{ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `\n\n*${text}*\n\n` } }]);
  }

  get #rest(): Rest {
    return this.server.rest;
  }

  /** Cancels its work first; if that does not end in time, it is left to the server. */
  async end(): Promise<void> {
    this.cancel();
    await this.connection.when(({ state }) => !AT_WORK.has(state.agentState), AbortSignal.timeout(END_MS)).catch(() => undefined);
    await this.#sending;
    this.close();
  }

  close(): void {
    this.#end('cancelled');
    this.connection.close();
  }

  /** The message that was not taken is not sent later, behind the editor's back. */
  #lost(): void {
    const prompt = this.#prompt;
    if (!prompt) return;
    this.#prompt = undefined;
    if (!prompt.hasBegun) this.connection.cancel(prompt.clientId);
    prompt.done.reject(unreachable());
  }

  #event(event: Event): void {
    const updates = this.#updates.event(event, { withUser: this.#past === 'loaded' });
    if (this.#past !== 'known') this.#send(updates);
    if (!this.#past) this.#changed(event);
    // The action that waits comes before its state, or behind it.
    queueMicrotask(() => this.#decide());
    const prompt = this.#prompt;
    if (prompt) prompt.hasBegun ||= isTask(event, prompt.clientId);
    const state = endOf(event);
    if (state === undefined || this.#past) return;
    if (state === 'awaiting_user_confirmation' || !prompt?.hasBegun) return;
    if (state === 'error') prompt.done.reject(RequestError.internalError(undefined, problemOf(event)));
    this.#end(prompt.isCancelled ? 'cancelled' : 'end_turn');
  }

  /** Reports changes that are not in the words of the conversation: usage and options. */
  #changed(event: Event): void {
    if ('llm_metrics' in event && event.llm_metrics) this.#reportUsage();
    const isPolicy = 'observation' in event && event.observation === 'success' && event.extras.confirmation_policy !== undefined;
    if (isPolicy) void this.reportOptions();
  }

  #reportUsage(): void {
    const { metrics } = this.connection.getSnapshot().state;
    if (metrics) this.#send(usageUpdates(metrics));
  }

  #end(reason: StopReason): void {
    const prompt = this.#prompt;
    this.#prompt = undefined;
    prompt?.done.resolve(reason);
  }

  #send(updates: ReturnType<AcpUpdates['event']>): void {
    for (const update of updates) {
      const send = () => this.#client.update(this.id, update);
      this.#sending = this.#sending.then(send, send).catch(() => undefined); // the editor has left
    }
  }

  #decide(): void {
    const action = waitingAction(this.connection.getSnapshot().state);
    if (!action || action.id === this.#askedAbout) return;
    this.#askedAbout = action.id;
    void this.#ask(action).catch(() => undefined); // another client decides
  }

  async #ask(action: Action): Promise<void> {
    await this.#sending;
    const { mode, suggestions } = await this.#rest.conversations.confirmation(this.id);
    const canAlways = mode !== 'always' && suggestions.length > 0;
    const chosen = await this.#client.ask(this.id, {
      title: decisionWords(action).question,
      toolCall: { toolCallId: this.#updates.callId(action), status: 'pending', rawInput: action.args },
      options: OPTIONS.filter(({ kind }) => kind !== 'allow_always' || canAlways),
    });
    if (chosen === undefined) return;
    // The suggestions and the answer are about this action: if another one waits by now, neither counts.
    if (chosen === 'always') {
      if ((await this.#rest.conversations.question(this.id))?.event_id !== action.id) return;
      await this.#rest.conversations.addRules(this.id, suggestions);
    }
    await this.#rest.conversations.answer(this.id, { event_id: action.id, answer: chosen === 'reject' ? 'reject' : 'approve' });
  }
}

const AT_WORK: ReadonlySet<string> = new Set(['running', 'rate_limited', 'awaiting_user_confirmation', 'user_confirmed', 'user_rejected']);

/** What a session needs from an editor of either version. */
export interface Editor {
  update(sessionId: string, update: SessionUpdate): Promise<void>;
  /** The option that was chosen; `undefined`: none. */
  ask(
    sessionId: string,
    question: { readonly title: string; readonly toolCall: ToolCallUpdate; readonly options: readonly PermissionOption[] },
  ): Promise<string | undefined>;
}

export interface AcpSessionOptions {
  readonly client: Editor;
  readonly server: AttachedServer;
  /** The folder on the editor's machine in which the agent works. */
  readonly folder: string;
  /** Its history is sent first. */
  readonly isLoaded: boolean;
  readonly signal: AbortSignal;
}

const OPTIONS: readonly PermissionOption[] = [
  { optionId: 'once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'always', name: 'Always allow in this conversation', kind: 'allow_always' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
];

function problemOf(event: Event): string {
  return 'observation' in event && event.observation === 'agent_state_changed' ? event.content || event.extras.reason : '';
}

function unreachable(): RequestError {
  return RequestError.internalError(
    undefined,
    'the server cannot be reached; start it again (tendon serve), and send the prompt again. What it was doing may go on there',
  );
}

/** A server that is started again is back by then. */
const OFFLINE_MS = 20_000;
/** How long an agent may take to end its work. */
const END_MS = 5_000;
