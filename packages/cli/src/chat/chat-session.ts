/**
 * Owns a chat in a terminal: one conversation at a time, what is shown of it, and what a person types.
 *
 * CS1  What is expected of the person follows from the events alone: a message, a decision, one of several answers, or nothing while the
 *      agent works. A message that is typed while it works is sent, and read after its step.
 * CS2  A conversation is made with its first message: a chat that is opened and left makes none.
 * CS3  A message is with the server before its conversation is left.
 */
import { randomUUID } from 'node:crypto';
import { connect, type ConversationConnection, type ConversationSnapshot, type Rest } from '@tendon/client';
import type { Action, Event } from '@tendon/protocol';
import type { AttachedServer } from '../attach/attached-server.ts';
import { followConnection } from '../attach/follow-connection.ts';
import { ServerContact, type Contact, type ContactPlace } from '../attach/server-contact.ts';
import { createConversation } from '../run/server-place.ts';
import type { Line } from '../run/describe-event.ts';
import { endOf } from '../run/outcome.ts';
import type { TaskChoices } from '../run/task-place.ts';
import { TextRenderer } from '../run/text-renderer.ts';
import { offeredChoices } from '../terminal/agent-words.ts';
import { printable } from '../terminal/printable.ts';
import { AskedDecision, type DecisionPlace } from './asked-decision.ts';
import { ChatInput } from './chat-input.ts';
import { PROMPTS, type Expected } from './expected.ts';
import { completeCommand, runSlashCommand } from './slash-commands.ts';
import { TurnSummary } from './turn-summary.ts';

export interface ChatOptions {
  readonly server: AttachedServer;
  /** Where its agents work; `undefined` for a folder of their own. */
  readonly directory: string | undefined;
  readonly choices: TaskChoices;
  /** The conversation to continue. */
  readonly conversation?: string | undefined;
  /** `data:` URLs that go with the first message. */
  readonly imageUrls?: readonly string[];
}

export class ChatSession implements DecisionPlace, ContactPlace {
  readonly #options: ChatOptions;
  readonly #input: ChatInput;
  readonly #screen: TextRenderer;
  readonly #ended = Promise.withResolvers<void>();
  /** Messages of this terminal: their echo is not shown again. */
  readonly #sent = new Set<string>();
  #expected: Expected = { state: 'message' };
  #connection: ConversationConnection | undefined;
  /** CS2: the next message waits for the conversation of the first one. */
  #opening: Promise<void> | undefined;
  #unfollow: (() => void) | undefined;
  #turn = new TurnSummary(0, 0);
  #lastWords: Action | undefined;
  #hosts: readonly string[] = [];
  #imageUrls: readonly string[];
  #isLeaving = false;
  readonly #decision: AskedDecision;
  readonly #contact: ServerContact;
  /** Whether the events that arrive now are new. */
  #isLive = true;
  /** Ctrl-C was pressed a moment ago. */
  #stopping = false;

  constructor(options: ChatOptions) {
    this.#options = options;
    this.#imageUrls = options.imageUrls ?? [];
    this.#decision = new AskedDecision(this);
    this.#contact = new ServerContact(this);
    const { stdin: input, stdout: output } = process;
    this.#input = new ChatInput(input, output, {
      onLine: (line) => void this.#take(line).catch((error: Error) => this.#fail(error)),
      onInterrupt: (line) => this.#interrupted(line),
      onEnd: () => this.leave(),
      complete: completeCommand,
    });
    this.#screen = new TextRenderer({
      write: (text) => void output.write(text),
      isLive: true,
      isColoured: !process.env.NO_COLOR && process.env.TERM !== 'dumb',
      now: () => performance.now(),
      columns: () => output.columns || 80,
      typed: () => this.#input.typed,
    });
  }

  /** Resolves when the person leaves. */
  async run(header: string): Promise<void> {
    this.#screen.working(undefined);
    this.say(header);
    if (this.#options.conversation === undefined) this.expect({ state: 'message' });
    else {
      this.#expected = { state: 'nothing' };
      await this.open(this.#options.conversation);
      this.#expectNow();
    }
    await this.#ended.promise;
    this.#close();
  }

  get server(): AttachedServer {
    return this.#options.server;
  }

  get rest(): Rest {
    return this.server.rest;
  }

  get connection(): ConversationConnection | undefined {
    return this.#connection;
  }

  /** Hosts that the sandbox wants to reach and that wait for an answer. */
  get hosts(): readonly string[] {
    return this.#hosts;
  }

  /** The agent works, or waits for a decision. */
  get isAtWork(): boolean {
    return this.#expected.state === 'nothing' || this.#expected.state === 'decision' || this.#expected.state === 'edit';
  }

  /** The program itself is doing something. */
  working(words: string): void {
    this.#input.hush();
    this.#screen.working(words);
  }

  /** Asks whether the person wants it. */
  async consents(question: string): Promise<boolean> {
    return /^y(es)?$/i.test((await this.asks(question))?.trim() ?? '');
  }

  /** Reads a line, then expects again what was expected before. `undefined`: the person left it, or something else has come. */
  async asks(question: string, { isHidden = false }: { readonly isHidden?: boolean } = {}): Promise<string | undefined> {
    const before = this.#expected;
    this.say(question);
    const { promise, resolve: settle } = Promise.withResolvers<string | undefined>();
    this.expect({ state: 'reply', isHidden, settle });
    const line = await promise;
    if (this.#expected.state === 'reply') this.#expected = before;
    await this.ready();
    return this.#expected === before ? line : undefined;
  }

  /** Shows a line of the program itself. */
  say(text: string): void {
    this.#input.above(() => this.#screen.notice(text));
  }

  /** A server that was started for a chat ends while nobody is connected to it: before the first message, and after `/new`. */
  async ready(): Promise<void> {
    if (!this.#connection) await this.server.find({ starts: true });
  }

  contactChanged(now: Contact): void {
    this.#screen.obstructed(now === 'lost' || now === 'away' ? 'Reconnecting to the server' : undefined);
    if (now === 'away') this.say('The server is away; reconnecting. Ctrl-C twice leaves, and tendon -c goes on later.');
    if (now === 'back') this.say('The server is back.');
  }

  notFound({ message }: Error): void {
    this.say(printable(message));
  }

  line(line: Line): void {
    this.#input.above(() => this.#screen.line(line));
  }

  expect(expected: Expected, text?: string): void {
    if (this.#isLeaving) return;
    if (this.#expected.state === 'reply' && this.#expected !== expected) this.#expected.settle(undefined);
    this.#expected = expected;
    this.#screen.working(undefined);
    if (expected.state === 'reply' && expected.isHidden) this.#input.askHidden(PROMPTS.reply);
    else this.#input.ask(PROMPTS[expected.state], text);
  }

  answered(): void {
    this.#work('Thinking');
  }

  unanswered(error: Error): void {
    const hasMoved = this.#expected.state !== 'nothing';
    this.#fail(error);
    if (hasMoved) return;
    this.#decision.reset(); // it may wait still
    this.#expectNow();
  }

  leave(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.#unfollow?.();
    this.#screen.end();
    this.#input.close();
    void this.#delivered().then(this.#ended.resolve);
  }

  /** The next message begins another conversation. */
  async startAnew(): Promise<void> {
    await this.#delivered();
    this.#close();
    this.expect({ state: 'message' });
  }

  async open(id: string): Promise<void> {
    const connection = connect(id, { baseUrl: () => this.rest.baseUrl, apiKey: () => this.rest.apiKey() });
    const { connection: now, state } = await connection.when(
      ({ loaded, connection: { state: at } }) => loaded || at === 'refused' || at === 'offline',
      new AbortController().signal,
    );
    if (now.state === 'refused' || now.state === 'offline') {
      connection.close();
      throw new Error(now.state === 'refused' ? now.message : 'The server cannot be reached any more.');
    }
    this.#connection = connection;
    if (this.#isLeaving) return;
    this.#beginTurn();
    this.#isLive = false;
    this.#decision.reset();
    const shownFrom = state.lastUserMessageId < 0 ? Infinity : state.lastUserMessageId;
    this.#unfollow = followConnection(connection, {
      event: (event) => this.#event(event, this.#isLive || event.id >= shownFrom),
      frame: (frame) => (frame.volatile === 'network' ? this.#asked(frame.questions.map(({ host }) => host)) : this.#screen.frame(frame)),
      ended: () => this.#lost(),
      connection: (reached) => this.#contact.take(reached),
    });
    this.#isLive = true;
  }

  /** Sends a message, in a new conversation where there is none. */
  async send(text: string): Promise<void> {
    if (!this.#connection) await (this.#opening ??= this.#make().finally(() => (this.#opening = undefined)));
    const clientId = randomUUID();
    this.#sent.add(clientId);
    if (!this.#connection?.say(text, { clientId, imageUrls: this.#imageUrls }))
      return this.say('It could not be sent: too much waits already.');
    this.#imageUrls = [];
    if (this.#expected.state === 'nothing') return this.say(`> ${text}`);
    this.#beginTurn();
    this.#work('Thinking');
  }

  async #make(): Promise<void> {
    await this.ready();
    const { directory, choices } = this.#options;
    await this.open(await createConversation(this.rest, directory, choices));
  }

  /** CS3: also one that waits for its conversation. */
  async #delivered(): Promise<void> {
    await this.#opening?.catch(() => undefined);
    const isOver = ({ outbox, connection }: ConversationSnapshot) => outbox.length === 0 || /refused|closed/.test(connection.state);
    await this.#connection
      ?.when(isOver, AbortSignal.timeout(DELIVERY_MS))
      .catch(() => this.say('The server does not answer: the last message may not have arrived.'));
  }

  #work(words: string): void {
    if (this.#isLeaving) return;
    if (this.#expected.state === 'reply') this.#expected.settle(undefined);
    this.#expected = { state: 'nothing' };
    this.#input.hush();
    this.#screen.working(words);
  }

  #beginTurn(): void {
    this.#turn = new TurnSummary(performance.now(), this.#connection?.getSnapshot().state.metrics?.accumulated_cost ?? 0);
  }

  /** Decides from the events what is expected, if nothing is expected yet. */
  #expectNow(): void {
    const { agentState } = this.#connection!.getSnapshot().state;
    if (agentState === 'running' || agentState === 'rate_limited') return this.#work('Working');
    if (agentState === 'awaiting_user_confirmation') return this.#decision.ask();
    if (this.#expected.state === 'nothing') this.expect({ state: 'message' });
  }

  #event(event: Event, isShown: boolean): void {
    this.#turn.take(event);
    if (this.#isLive) queueMicrotask(() => this.#decision.ask()); // when everything that came with it is there
    if ('action' in event) this.#noteAction(event);
    if (!isShown) return;
    const isMessage = 'action' in event && event.source === 'user' && event.action === 'message';
    if (isMessage && !this.#sent.has(event.client_id ?? '')) {
      this.say(`> ${printable(event.args.content)}`);
      this.#work('Thinking');
    }
    if ('observation' in event && event.observation === 'agent_state_changed') return this.#stateChanged(event);
    // What happens while the agent rests, e.g. a shortened history, stands above the prompt.
    this.#input.above(() => this.#screen.event(event));
    if (this.#isLive && this.#expected.state !== 'nothing') this.#screen.working(undefined);
  }

  #noteAction(action: Action): void {
    if (action.source === 'agent' && action.action === 'message') this.#lastWords = action;
    else if (action.source === 'user') this.#lastWords = undefined;
  }

  #stateChanged(event: Extract<Event, { readonly observation: 'agent_state_changed' }>): void {
    const state = endOf(event);
    if (state !== 'awaiting_user_confirmation' && state !== 'awaiting_user_input') this.#input.above(() => this.#screen.event(event));
    const begins = event.extras.agent_state === 'running' && this.#expected.state !== 'nothing';
    if (state === undefined) return begins ? this.#work('Thinking') : undefined;
    if (state === 'awaiting_user_confirmation') return; // the action that waits comes before it, or behind
    this.#endTurn(state);
    const choices = state === 'awaiting_user_input' ? offeredChoices(this.#lastWords) : [];
    if (choices.length === 0) return this.expect({ state: 'message' });
    this.say(`  1 to ${choices.length}, or your own words`);
    this.expect({ state: 'answer', choices });
  }

  #endTurn(state: string): void {
    if (this.#expected.state !== 'nothing' || !this.#isLive) return; // of an earlier turn
    const words = this.#turn.words(performance.now());
    if (state !== 'finished') return words === '' ? undefined : this.say(words);
    const parts = ['✓ Done', words, this.#turn.hasEdits ? '/undo takes it back' : ''];
    this.line({ tone: 'added', text: parts.filter(Boolean).join(' · ') });
  }

  async #take(line: string): Promise<void> {
    const expected = this.#expected;
    if (expected.state === 'edit') return this.#decision.takeEdited(expected.action, line);
    if (expected.state === 'reply') return expected.settle(line);
    if (line.trim().startsWith('/')) {
      await runSlashCommand(line.trim(), this);
      if (this.#expected === expected && expected.state !== 'nothing') this.expect(expected);
      return;
    }
    if (expected.state === 'decision') return this.#decision.take(expected.action, line);
    if (line.trim() === '') return expected.state === 'nothing' ? undefined : this.expect(expected);
    const choice = expected.state === 'answer' ? expected.choices[Number(line.trim()) - 1] : undefined;
    await this.send(choice ?? line);
  }

  #asked(hosts: readonly string[]): void {
    for (const host of hosts.filter((each) => !this.#hosts.includes(each)))
      this.say(`◇ The sandbox wants to reach ${printable(host)}: /allow ${printable(host)}, or /refuse ${printable(host)}`);
    this.#hosts = hosts;
  }

  /** With the next Ctrl-C, if it comes soon. */
  #leaveNext(): void {
    this.#stopping = true;
    setTimeout(() => (this.#stopping = false), STOP_AGAIN_MS).unref();
  }

  #interrupted(line: string): void {
    if (this.#expected.state === 'nothing' && this.#connection) {
      if (this.#stopping) return this.leave();
      this.#leaveNext();
      this.say(`${this.#contact.stop() ? 'Stopping' : 'The agent is asked to stop when the server is back'}; once more leaves`);
    } else if (this.#expected.state === 'reply') this.#expected.settle(undefined);
    else if (line !== '') this.#input.ask(PROMPTS[this.#expected.state], '');
    else if (this.#stopping) this.leave();
    else {
      this.#leaveNext();
      this.say('Ctrl-C once more leaves');
      this.#input.ask(PROMPTS[this.#expected.state]);
    }
  }

  #lost(): void {
    this.say('The conversation was ended: it was deleted, or the server has left.');
    void this.startAnew();
  }

  #fail(error: Error): void {
    this.line({ tone: 'fault', text: printable(error.message) });
    this.expect(this.#expected.state === 'nothing' ? { state: 'message' } : this.#expected);
  }

  #close(): void {
    this.#unfollow?.();
    this.#connection?.close();
    this.#connection = undefined;
    this.#contact.reset();
  }
}

/** How long after the first Ctrl-C a second one leaves the chat. */
const STOP_AGAIN_MS = 3_000;
/** How long a message may take to reach the server. */
const DELIVERY_MS = 5_000;
