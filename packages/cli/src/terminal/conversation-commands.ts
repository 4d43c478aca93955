import { actions, type ConversationSnapshot } from '@tendon/client';
import { type Action, type Event, isAction, isObservation } from '@tendon/protocol';
import { approvals } from './approvals.ts';
import type { CommandPlace } from './command-place.ts';
import { printable } from './printable.ts';

interface ConversationCommand {
  readonly does: string;
  /** The arguments after its name. */
  readonly hint?: string;
  readonly run: (place: CommandPlace, words: string) => Promise<void> | void;
}

/** The slash commands that a chat and an editor offer for a conversation. */
export const CONVERSATION_COMMANDS: Readonly<Record<string, ConversationCommand>> = {
  undo: { does: 'take back the last message with its files; again: the one before', run: undo },
  model: {
    does: 'the model of the next turn, by its name',
    hint: 'its name',
    run: (place, name) => choose(place, { llm_model: name }, name),
  },
  agent: { does: 'the agent of the next turn, by its name', hint: 'its name', run: (place, name) => choose(place, { agent: name }, name) },
  approvals: {
    does: 'what waits for you in this conversation: seen, or chosen by its name',
    hint: 'always, rules, risk, never or usual',
    run: approvals,
  },
  compact: { does: 'shorten what the model is shown of the history', run: compact },
  cost: { does: 'what the conversation has cost', run: cost },
  open: { does: 'the address of this conversation in the browser', run: (place) => place.say(addressOf(place)) },
};

/** Before these the sandbox stores the workspace, if it has changed since it was last stored. */
const STORED_BEFORE: ReadonlySet<string> = new Set(['run', 'run_ipython', 'write', 'edit']);

const EVENT_MS = 5_000;

async function undo(session: CommandPlace): Promise<void> {
  const { connection, rest } = session;
  if (!connection) return session.say('Nothing was done yet.');
  const id = connection.conversationId;
  const { events } = connection.getSnapshot();
  const message = lastMessage(events);
  if (message === undefined) return session.say('There is no message to take back.');
  const first = events.find((event) => isAction(event) && event.id > message && isStep(event));
  const { checkpoints, off } = await rest.conversations.checkpoints(id);
  const before = first && checkpoints.find(({ event_id: step, restore_id: restore }) => (step ?? restore ?? Infinity) <= first.id);
  if (first && !before)
    return session.say(`Nothing was undone: ${printable(off ?? 'the files of before your last message are not stored')}`);
  const count = before ? (await rest.conversations.checkpointChanges(id, before.number)).count : 0;
  await rest.conversations.restore(id, before?.number ?? 1, count > 0 ? 'both' : 'conversation', message);
  // Its event comes by another way than the answer: until then the same message would be taken back again.
  const isKnown = (now: ConversationSnapshot) => lastMessage(now.events) !== message;
  await connection.when(isKnown, AbortSignal.timeout(EVENT_MS)).catch(() => undefined);
  if (count === 0) return session.say('Undone: no file had changed; the agent no longer knows your last message.');
  session.say(`Undone: ${count} ${count === 1 ? 'file is' : 'files are'} as before your last message, which the agent no longer knows.`);
}

/** The last message of the user that the agent still knows. */
function lastMessage(events: readonly Event[]): number | undefined {
  let known: number[] = [];
  for (const event of events) {
    if (isAction(event) && event.source === 'user' && event.action === 'message') known.push(event.id);
    if (isObservation(event) && event.observation === 'restore_checkpoint' && event.extras.what !== 'files' && event.extras.from >= 0)
      known = known.filter((id) => id < event.extras.from);
  }
  return known.at(-1);
}

function isStep({ source, action }: Action): boolean {
  return source === 'agent' && STORED_BEFORE.has(action);
}

async function choose(session: CommandPlace, body: { readonly agent?: string; readonly llm_model?: string }, name: string): Promise<void> {
  const { connection, rest } = session;
  if (name === '' || !connection) {
    const names = await (body.agent === undefined ? modelNames(session) : rest.options.agents());
    return session.say(`${connection ? 'Name one of them' : 'Say something first, then choose'}:\n  ${printable(names.join('\n  '))}`);
  }
  await rest.conversations.choose(connection.conversationId, body);
  session.say(`From the next turn on: ${printable(name)}`);
}

async function modelNames({ rest }: CommandPlace): Promise<readonly string[]> {
  return (await rest.models.list()).map(({ model }) => model);
}

function compact(session: CommandPlace): void {
  if (!session.connection?.send(actions.shortenHistory())) session.say('There is nothing to shorten.');
}

function cost(session: CommandPlace): void {
  const metrics = session.connection?.getSnapshot().state.metrics;
  if (!metrics) return session.say('No model was asked yet.');
  const { accumulated_cost: usd, unpriced_tokens: unpriced = 0, accumulated_token_usage: usage } = metrics;
  const price = unpriced > 0 ? `$${usd.toFixed(4)}, and ${unpriced} tokens whose price is not known` : `$${usd.toFixed(4)}`;
  session.say(`${price} · ${usage.prompt_tokens.toLocaleString('en')} tokens in, ${usage.completion_tokens.toLocaleString('en')} out`);
}

function addressOf({ connection, rest }: CommandPlace): string {
  return connection ? `${rest.baseUrl}/conversations/${connection.conversationId}` : rest.baseUrl;
}
