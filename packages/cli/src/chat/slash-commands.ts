import { actions } from '@tendon/client';
import { printable } from '../terminal/printable.ts';
import type { ChatSession } from './chat-session.ts';
import { openPullRequest } from './pull-request.ts';

interface SlashCommand {
  readonly does: string;
  readonly run: (session: ChatSession, words: string) => Promise<void> | void;
}

const COMMANDS: Readonly<Record<string, SlashCommand>> = {
  help: { does: 'what there is', run: (session) => session.say(helpWords()) },
  undo: { does: 'files and conversation as before the last message', run: undo },
  pr: { does: 'commit, push and open a pull request, when you have seen what will be done; /pr TITLE names it', run: openPullRequest },
  model: { does: 'the model of the next turn, by its name', run: (session, name) => choose(session, { llm_model: name }, name) },
  agent: { does: 'the agent of the next turn, by its name', run: (session, name) => choose(session, { agent: name }, name) },
  compact: { does: 'shorten what the model is shown of the history', run: compact },
  cost: { does: 'what the conversation has cost', run: cost },
  allow: { does: 'let the sandbox reach a host that it was refused', run: (session, host) => answerHost(session, host, 'once') },
  refuse: { does: 'do not', run: (session, host) => answerHost(session, host, 'refuse') },
  open: { does: 'the address of this conversation in the browser', run: (session) => session.say(addressOf(session)) },
  new: { does: 'another conversation, with the next message', run: (session) => session.startAnew() },
  quit: { does: 'leave; the conversation stays (tendon -c goes on with it)', run: (session) => session.leave() },
};

/** `line` begins with a slash. */
export async function runSlashCommand(line: string, session: ChatSession): Promise<void> {
  const [, name = '', words = ''] = /^\/(\S*)\s*(.*)$/s.exec(line) ?? [];
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command) await command.run(session, words.trim());
  else session.say(`There is no /${printable(name)}; /help says what there is.`);
}

export function completeCommand(line: string): [readonly string[], string] {
  const names = Object.keys(COMMANDS).map((name) => `/${name}`);
  return [line.startsWith('/') ? names.filter((name) => name.startsWith(line)) : [], line];
}

function helpWords(): string {
  const width = Math.max(...Object.keys(COMMANDS).map(({ length }) => length));
  const rows = Object.entries(COMMANDS).map(([name, { does }]) => `  /${name.padEnd(width)}  ${does}`);
  return [...rows, '  Ctrl-C stops the agent, twice leaves. What you type while it works is read after its step.'].join('\n');
}

async function undo(session: ChatSession): Promise<void> {
  const { connection, rest } = session;
  if (!connection) return session.say('Nothing was done yet.');
  const id = connection.conversationId;
  const { lastUserMessageId } = connection.getSnapshot().state;
  const { checkpoints, off } = await rest.conversations.checkpoints(id);
  const before = checkpoints.findLast(({ event_id: event }) => event !== null && event > lastUserMessageId);
  if (!before) return session.say(off ? `Nothing can be undone: ${printable(off)}` : 'Nothing was changed since your last message.');
  const { count } = await rest.conversations.checkpointChanges(id, before.number);
  await rest.conversations.restore(id, before.number, 'both');
  session.say(`Undone: ${count} ${count === 1 ? 'file is' : 'files are'} as before your last message.`);
}

async function choose(session: ChatSession, body: { readonly agent?: string; readonly llm_model?: string }, name: string): Promise<void> {
  const { connection, rest } = session;
  if (name === '' || !connection) {
    const names = await (body.agent === undefined ? modelNames(session) : rest.options.agents());
    return session.say(`${connection ? 'Name one of them' : 'Say something first, then choose'}:\n  ${printable(names.join('\n  '))}`);
  }
  await rest.conversations.choose(connection.conversationId, body);
  session.say(`From the next turn on: ${printable(name)}`);
}

async function modelNames({ rest }: ChatSession): Promise<readonly string[]> {
  return (await rest.models.list()).map(({ model }) => model);
}

function compact(session: ChatSession): void {
  if (!session.connection?.send(actions.shortenHistory())) session.say('There is nothing to shorten.');
}

function cost(session: ChatSession): void {
  const metrics = session.connection?.getSnapshot().state.metrics;
  if (!metrics) return session.say('No model was asked yet.');
  const { accumulated_cost: usd, unpriced_tokens: unpriced = 0, accumulated_token_usage: usage } = metrics;
  const price = unpriced > 0 ? `$${usd.toFixed(4)}, and ${unpriced} tokens whose price is not known` : `$${usd.toFixed(4)}`;
  session.say(`${price} · ${usage.prompt_tokens.toLocaleString('en')} tokens in, ${usage.completion_tokens.toLocaleString('en')} out`);
}

async function answerHost(session: ChatSession, words: string, answer: 'once' | 'refuse'): Promise<void> {
  const { connection, hosts } = session;
  const host = words === '' ? hosts[0] : words;
  if (!connection || host === undefined) return session.say('No host is asked about.');
  if (words === '' && hosts.length > 1) return session.say(`Name one of them: ${printable(hosts.join(', '))}`);
  await session.rest.conversations.answerNetwork(connection.conversationId, { host, answer });
  session.say(answer === 'once' ? `Allowed in this conversation: ${printable(host)}` : `Refused: ${printable(host)}`);
}

function addressOf({ connection, rest }: ChatSession): string {
  return connection ? `${rest.baseUrl}/conversations/${connection.conversationId}` : rest.baseUrl;
}
