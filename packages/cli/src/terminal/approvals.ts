import { ConfirmationMode, type ChosenBy, type ConversationConfirmation } from '@tendon/protocol';
import type { CommandPlace } from './command-place.ts';
import { printable } from './printable.ts';

const WAITS: Readonly<Record<ConfirmationMode, string>> = {
  always: 'Everything that may do harm waits for you',
  rules: 'What no rule allows waits for you',
  risk: 'What is risky waits for you',
  never: 'Only what a rule asks about waits for you',
};

const CHOSEN_BY: Readonly<Record<ChosenBy, string>> = {
  conversation: 'chosen for this conversation',
  settings: 'as the settings have it',
  server: 'as the server was started',
  nobody: 'nobody chose',
};

const USAGE =
  'Choose for this conversation with always, rules, risk, risk and who judges it (rules, llm, model), never, or usual: as for all';

/** Shows what waits for a person in the conversation, or changes it for this one alone. */
export async function approvals(place: CommandPlace, words: string): Promise<void> {
  const { connection, rest } = place;
  if (!connection) return place.say('Say something first, then choose; what holds for all is in the settings.');
  const id = connection.conversationId;
  const [name = '', analyzer, ...more] = words.split(/\s+/);
  if (name === '') return place.say(`${wordsOf(await rest.conversations.confirmation(id))}.\n${USAGE}.`);
  const policy = name === 'usual' ? null : ConfirmationMode.safeParse(name).data;
  if (policy === undefined || more.length > 0 || (analyzer !== undefined && policy !== 'risk')) return place.say(`${USAGE}.`);
  const judge = policy === null ? { analyzer: null } : analyzer === undefined ? {} : { analyzer };
  const now = await rest.conversations.setPolicy(id, { policy, ...judge });
  place.say(`From the next action on: ${wordsOf(now)}.`);
}

function wordsOf({ mode, mode_by, analyzer, analyzer_by }: ConversationConfirmation): string {
  const judge = mode === 'risk' ? `; ${printable(analyzer)} judges it, ${CHOSEN_BY[analyzer_by]}` : '';
  return `${WAITS[mode]}, ${CHOSEN_BY[mode_by]}${judge}`;
}
