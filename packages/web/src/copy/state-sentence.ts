import type { ConversationInfo } from '@tendon/client';
import { type Action, type AgentState, parseAgentState } from '@tendon/protocol';
import type { Glyph } from '../ui/icon.tsx';
import { count } from './figures.ts';
import { causeWords, troubleWords } from './error-words.ts';
import { commandWords, cut, fileName, firstLine, hostName } from './shorten.ts';

interface StateFacts {
  readonly state: AgentState;
  readonly reason?: string;
  /** The words of the provider or the sandbox itself. */
  readonly detail?: string | undefined;
  /** With `rate_limited`: UTC ISO 8601. */
  readonly resumesAt?: string | undefined;
  /** What the agent is at, if anything. */
  readonly doing?: Action | undefined;
  /** While it starts, e.g. "Opening the repository". */
  readonly starting?: string | undefined;
  /** The model's answer is being written. */
  readonly isWriting?: boolean;
  /** Nobody has asked anything yet. */
  readonly isFresh?: boolean;
  /** The agent's last message asks for an answer. */
  readonly asks?: boolean;
  /** By the agent's editor; `undefined`: it is not known whether anything changed. */
  readonly filesEdited?: number | undefined;
  readonly model?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: number;
}

export interface StateSentence {
  readonly glyph: Glyph;
  readonly text: string;
  /** Colour only for what needs somebody. */
  readonly tone?: 'wait' | 'bad';
}

/** One sentence per state: the same in the state line, the list and the title of the window. */
export function stateSentence(facts: StateFacts): StateSentence {
  return SENTENCES[facts.state](facts);
}

const SENTENCES = {
  loading: (facts) => ({ glyph: 'running', text: facts.starting ?? 'Starting the sandbox' }),
  init: () => ({ glyph: 'dot', text: 'Ready' }),
  running: (facts) => ({ glyph: 'running', text: workWords(facts) }),
  awaiting_user_input: ({ isFresh, asks }) =>
    isFresh
      ? { glyph: 'dot', text: 'Ready' }
      : asks
        ? { glyph: 'waiting', text: 'Asked you something', tone: 'wait' }
        : { glyph: 'dot', text: 'Your turn' },
  paused: (facts) => ({ glyph: 'held', text: pausedWords(facts) }),
  stopped: () => ({ glyph: 'held', text: 'Stopped by you' }),
  finished: (facts) => ({ glyph: 'done', text: doneWords(facts.filesEdited) }),
  rejected: (facts) => ({ glyph: 'failed', text: facts.reason ? `Declined: ${causeWords(facts.reason)}` : 'Declined' }),
  error: (facts) => ({
    glyph: 'failed',
    text: `Stopped: ${causeWords(facts.reason ?? '')}${facts.reason?.startsWith('STATUS$') ? wordsOf(facts.detail, ': ') : ''}`,
    tone: 'bad',
  }),
  rate_limited: (facts) => ({ glyph: 'limited', text: pauseWords(facts), tone: 'wait' }),
  awaiting_user_confirmation: () => ({ glyph: 'waiting', text: 'Waiting for your decision', tone: 'wait' }),
  user_confirmed: () => ({ glyph: 'running', text: 'Approved, running it now' }),
  user_rejected: () => ({ glyph: 'running', text: 'Rejected, finding another way' }),
} as const satisfies Record<AgentState, (facts: StateFacts) => StateSentence>;

function doneWords(files: number | undefined): string {
  if (files === undefined) return 'Done';
  return files === 0 ? 'Done, nothing changed' : `Done, ${count(files, 'file')} edited`;
}

/** A pause begins between two steps: one that runs is not interrupted. */
function pausedWords({ reason = '', doing }: StateFacts): string {
  if (doing) return `Pausing: ${doing.action === 'run' ? 'the command' : 'the step'} ends first`;
  return /budget/i.test(reason) ? `Paused: ${causeWords(reason, 12)}` : 'Paused by you';
}

function workWords(facts: StateFacts): string {
  const words = facts.doing && doingWords(facts.doing);
  if (words) return words;
  return facts.isWriting ? 'Writing' : thinkingWords(facts);
}

/** The model's own work, or that of the one that stands in for it, and why. */
function thinkingWords({ reason = '' }: StateFacts): string {
  const [, who] = /^(.+) answers in place of /.exec(reason) ?? [];
  return who ? `Thinking with ${who}${wordsOf(reason.slice(reason.indexOf(': ') + 2), ': ')}` : 'Thinking';
}

/** The provider's words follow what we say of them: "The model's provider asked for a pause: HTTP 429, slow down". */
function wordsOf(detail: string | undefined, before: string): string {
  const own = detail?.slice(detail.indexOf(': ') + 1).trim();
  return own && detail!.includes(': ') ? `${before}${cut(firstLine(own), 160)}` : '';
}

function pauseWords({ model, reason, resumesAt, now }: StateFacts): string {
  const who = `${model || 'The model'} ${troubleWords(reason)}${wordsOf(reason, ': ')}`;
  const left = resumesAt && now !== undefined ? Math.ceil((Date.parse(resumesAt) - now) / 1000) : Number.NaN;
  return Number.isNaN(left) ? who : `${who}, trying again ${left > 0 ? `in ${left} s` : 'now'}`;
}

/** `undefined`: it takes no time of its own. */
function doingWords(action: Action): string | undefined {
  switch (action.action) {
    case 'run':
      return action.args.command.trim() ? `Running ${commandWords(action.args.command)}` : 'Waiting for output';
    case 'run_ipython':
      return 'Running Python';
    case 'edit':
      return action.args.command === 'view' ? `Reading ${fileName(action.args.path)}` : `Editing ${fileName(action.args.path)}`;
    case 'write':
      return `Editing ${fileName(action.args.path)}`;
    case 'read':
      return action.args.search ? `Searching for ${firstLine(action.args.search.pattern)}` : `Reading ${fileName(action.args.path)}`;
    case 'browse':
      return `Opening ${hostName(action.args.url)}`;
    case 'browse_interactive':
      return 'Using the browser';
    case 'delegate':
      return `${action.args.agent} is working`;
    case 'recall':
      return action.args.note ? 'Noting something for later' : 'Searching earlier conversations';
    case 'call_tool_mcp':
      return `Calling ${action.args.name}`;
    default:
      return undefined;
  }
}

/** The same when nobody knows whether it still holds: "Was running npm test". */
export function pastWords(text: string): string {
  const isNow = /^(?:\w+ing|Ready|Your turn)\b|^.+ is working$/.test(text);
  return isNow ? `Was ${text.charAt(0).toLowerCase()}${text.slice(1)}`.replace(/ is working$/, ' working') : text;
}

/** The sentence of a row in a list: the agent's state where the server sends it, else its status. */
export function conversationSentence(info: ConversationInfo): StateSentence {
  const state = parseAgentState(info.agent_state);
  if (state) return stateSentence({ state, reason: info.reason ?? '' });
  switch (info.status) {
    case 'STARTING':
      return stateSentence({ state: 'loading' });
    case 'RUNNING':
      return { glyph: 'dot', text: 'Idle' };
    case 'ERROR':
      return stateSentence({ state: 'error' });
    case 'STOPPED':
    case 'ARCHIVED':
      return { glyph: 'held', text: 'Stopped' };
  }
}

export function isWaiting(info: ConversationInfo): boolean {
  const state = parseAgentState(info.agent_state);
  return state === 'awaiting_user_input' || state === 'awaiting_user_confirmation';
}

export function isRunningNow(info: ConversationInfo): boolean {
  return conversationSentence(info).glyph === 'running';
}
