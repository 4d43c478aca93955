import { CONVERSATION_COMMANDS } from '../terminal/conversation-commands.ts';
import { printable } from '../terminal/printable.ts';
import type { ChatSession } from './chat-session.ts';
import { openPullRequest } from './pull-request.ts';
import { setUp } from './set-up.ts';

interface SlashCommand {
  readonly does: string;
  /** It asks no server. */
  readonly isLocal?: true;
  readonly run: (session: ChatSession, words: string) => Promise<void> | void;
}

const COMMANDS: Readonly<Record<string, SlashCommand>> = {
  help: { does: 'what there is', isLocal: true, run: (session) => session.say(helpWords()) },
  undo: CONVERSATION_COMMANDS.undo!,
  pr: { does: 'show, then commit, push and open a pull request; /pr TITLE names it', run: openPullRequest },
  model: CONVERSATION_COMMANDS.model!,
  setup: { does: 'ask for a model, its key and its address, and store them', run: setUp },
  agent: CONVERSATION_COMMANDS.agent!,
  approvals: CONVERSATION_COMMANDS.approvals!,
  compact: CONVERSATION_COMMANDS.compact!,
  cost: CONVERSATION_COMMANDS.cost!,
  allow: { does: 'let the sandbox reach a host that it was refused', run: (session, host) => answerHost(session, host, 'once') },
  refuse: { does: 'do not', run: (session, host) => answerHost(session, host, 'refuse') },
  open: CONVERSATION_COMMANDS.open!,
  new: { does: 'another conversation, with the next message', isLocal: true, run: (session) => session.startAnew() },
  quit: { does: 'leave; the conversation stays (tendon -c goes on with it)', isLocal: true, run: (session) => session.leave() },
};

/** `line` begins with a slash. */
export async function runSlashCommand(line: string, session: ChatSession): Promise<void> {
  const [, name = '', words = ''] = /^\/(\S*)\s*(.*)$/s.exec(line) ?? [];
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command) {
    if (!command.isLocal) await session.ready();
    await command.run(session, words.trim());
  } else session.say(`There is no /${printable(name)}; /help says what there is.`);
}

export function completeCommand(line: string): [readonly string[], string] {
  const names = Object.keys(COMMANDS).map((name) => `/${name}`);
  return [line.startsWith('/') ? names.filter((name) => name.startsWith(line)) : [], line];
}

function helpWords(): string {
  const width = Math.max(...Object.keys(COMMANDS).map(({ length }) => length));
  const rows = Object.entries(COMMANDS).map(([name, { does }]) => `  /${name.padEnd(width)}  ${does}`);
  return [...rows, '  Ctrl-C stops the agent, twice leaves.', '  What you type while it works is read after its step.'].join('\n');
}

async function answerHost(session: ChatSession, words: string, answer: 'once' | 'refuse'): Promise<void> {
  const { connection, hosts } = session;
  const host = words === '' ? hosts[0] : words;
  if (!connection || host === undefined) return session.say('No host is asked about.');
  if (words === '' && hosts.length > 1) return session.say(`Name one of them: ${printable(hosts.join(', '))}`);
  await session.rest.conversations.answerNetwork(connection.conversationId, { host, answer });
  session.say(answer === 'once' ? `Allowed in this conversation: ${printable(host)}` : `Refused: ${printable(host)}`);
}
