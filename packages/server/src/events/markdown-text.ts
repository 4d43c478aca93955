/** A conversation for people to read and to pass on: its messages, actions and results in order. */
import { loggedEvents, type EventLog } from '@tendon/core';
import { cutMiddle, isAction, isUnknown, type Action, type Event, type Observation } from '@tendon/protocol';
import { isHidden } from './atif-text.ts';

/** Of one result; the other formats have all of it. */
const MAX_RESULT = 4_000;

/** Pieces of one document: memory does not grow with the history. */
export async function* markdownText(log: EventLog): AsyncGenerator<string> {
  yield `# Conversation ${log.conversationId}\n`;
  for await (const event of loggedEvents(log, { to: log.nextId })) {
    if (isUnknown(event) || isHidden(event)) continue;
    const text = isAction(event) ? actionText(event) : observationText(event);
    if (text !== '') yield `\n${text}\n`;
  }
}

const SPEAKERS: Readonly<Record<Event['source'], string>> = { user: 'User', agent: 'Agent', environment: 'Environment' };
/** What only the engine and its clients need. */
const LEFT_OUT: ReadonlySet<string> = new Set(['system', 'recall', 'change_agent_state', 'null', 'agent_state_changed']);

function actionText(action: Action): string {
  if (LEFT_OUT.has(action.action)) return '';
  const { author, args } = action;
  const isDecided = author && action.source === 'agent' && 'confirmation_state' in args;
  const decision = isDecided && `*${args.confirmation_state === 'rejected' ? 'Rejected' : 'Approved'} by ${plainName(author.name)}.*`;
  return decision ? parts(ownText(action), decision) : ownText(action);
}

/** No mark of Markdown in a name is one. */
function plainName(name: string): string {
  return name.replaceAll(/[\\`*_{}[\]<>#|&!~]/g, '\\$&');
}

function ownText(action: Action): string {
  switch (action.action) {
    case 'message':
      return `## ${action.author ? plainName(action.author.name) : SPEAKERS[action.source]}\n\n${action.args.content}`;
    case 'think':
      return action.args.thought;
    case 'finish':
      return `## Agent\n\n${action.args.final_thought}`;
    case 'run':
      return parts(thoughtOf(action), fenced(action.args.command, 'sh'));
    case 'run_ipython':
      return parts(thoughtOf(action), fenced(action.args.code, 'python'));
    default: {
      const { thought: _, ...args } = action.args as { readonly thought?: unknown };
      const given = Object.entries(args).filter(([, value]) => value !== null && value !== undefined && value !== '');
      return parts(thoughtOf(action), `**${action.action}**`, fenced(JSON.stringify(Object.fromEntries(given), undefined, 2), 'json'));
    }
  }
}

function observationText(observation: Observation): string {
  if (LEFT_OUT.has(observation.observation)) {
    const isError = observation.observation === 'agent_state_changed' && observation.extras.agent_state === 'error';
    return isError ? `**Error:** ${observation.extras.reason || observation.content}` : '';
  }
  return observation.content.trim() === '' ? '' : fenced(cutMiddle(observation.content, { limit: MAX_RESULT }), '');
}

function thoughtOf({ args }: Action): string {
  return 'thought' in args ? String(args.thought ?? '') : '';
}

function parts(...texts: readonly string[]): string {
  return texts.filter((text) => text.trim() !== '').join('\n\n');
}

/** The fence is longer than any in the text, so that the text cannot end it. */
function fenced(text: string, language: string): string {
  let longest = 2;
  for (const [marks] of text.matchAll(/`+/g)) longest = Math.max(longest, marks.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`;
}
