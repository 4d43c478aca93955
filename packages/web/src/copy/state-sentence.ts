import type { ConversationInfo } from '@tendon/client';
import { type Action, type AgentState, parseAgentState } from '@tendon/protocol';
import type { Glyph } from '../ui/icon.tsx';
import { causeWords, troubleWords } from './error-words.ts';
import { reachedLimit } from './reached-limit.ts';
import { commandWords, cut, fileName, firstLine, hostName } from './shorten.ts';
import { spoken, t } from '../lib/language/text.ts';

interface StateFacts {
  readonly state: AgentState;
  /** A person has the agent's terminal. */
  readonly isHeld?: boolean;
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
  if (facts.isHeld) return { glyph: 'held', text: t('You have the terminal, the agent waits'), tone: 'wait' };
  return SENTENCES[facts.state](facts);
}

const SENTENCES = {
  loading: (facts) => ({ glyph: 'running', text: facts.starting ?? t('Starting the sandbox') }),
  init: () => ({ glyph: 'dot', text: t('Ready') }),
  running: (facts) => ({ glyph: 'running', text: workWords(facts) }),
  awaiting_user_input: ({ isFresh, asks }) =>
    isFresh
      ? { glyph: 'dot', text: t('Ready') }
      : asks
        ? { glyph: 'waiting', text: t('Asked you something'), tone: 'wait' }
        : { glyph: 'dot', text: t('Your turn') },
  paused: (facts) => ({ glyph: 'held', text: pausedWords(facts) }),
  stopped: () => ({ glyph: 'held', text: t('Stopped by you') }),
  finished: (facts) => ({ glyph: 'done', text: doneWords(facts.filesEdited) }),
  rejected: (facts) => ({
    glyph: 'failed',
    text: facts.reason ? t('Declined: {{reason}}', { reason: causeWords(facts.reason) }) : t('Declined'),
  }),
  error: (facts) => {
    const limit = reachedLimit(facts.reason);
    return limit ? { glyph: 'held', text: limit.words, tone: 'wait' } : { glyph: 'failed', text: stoppedWords(facts), tone: 'bad' };
  },
  rate_limited: (facts) => ({ glyph: 'limited', text: pauseWords(facts), tone: 'wait' }),
  awaiting_user_confirmation: () => ({ glyph: 'waiting', text: t('Waiting for your decision'), tone: 'wait' }),
  user_confirmed: () => ({ glyph: 'running', text: t('Approved, running it now') }),
  user_rejected: () => ({ glyph: 'running', text: t('Rejected, finding another way') }),
} as const satisfies Record<AgentState, (facts: StateFacts) => StateSentence>;

function doneWords(files: number | undefined): string {
  if (files === undefined) return t('Done');
  return files === 0 ? t('Done, nothing changed') : t('Done, {{count}} files edited', { count: files });
}

function stoppedWords({ reason = '', detail }: StateFacts): string {
  return t('Stopped: {{reason}}', { reason: `${causeWords(reason)}${reason.startsWith('STATUS$') ? wordsOf(detail) : ''}` });
}

/** A pause begins between two steps: one that runs is not interrupted. */
function pausedWords({ reason = '', doing }: StateFacts): string {
  if (doing) return t(doing.action === 'run' ? 'Pausing: the command ends first' : 'Pausing: the step ends first');
  return /budget/i.test(reason) ? t('Paused: {{reason}}', { reason: causeWords(reason, 12) }) : t('Paused by you');
}

function workWords(facts: StateFacts): string {
  const words = facts.doing && doingWords(facts.doing);
  if (words) return words;
  return facts.isWriting ? t('Writing') : thinkingWords(facts);
}

/** The model's own work, or that of the one that stands in for it, and why. */
function thinkingWords({ reason = '' }: StateFacts): string {
  const [, who] = /^(.+) answers in place of /.exec(reason) ?? [];
  return who ? `${t('Thinking with {{model}}', { model: who })}${wordsOf(reason.slice(reason.indexOf(': ') + 2))}` : t('Thinking');
}

/** The provider's words follow what we say of them: "The model's provider asked for a pause: HTTP 429, slow down". */
function wordsOf(detail: string | undefined): string {
  const own = detail?.slice(detail.indexOf(': ') + 1).trim();
  return own && detail!.includes(': ') ? `: ${cut(firstLine(own), 160)}` : '';
}

function pauseWords({ model, reason, resumesAt, now }: StateFacts): string {
  const trouble = troubleWords(reason, model || undefined);
  const left = resumesAt && now !== undefined ? Math.ceil((Date.parse(resumesAt) - now) / 1000) : Number.NaN;
  // The provider's words come last: where there is no room for all, they are what is cut.
  if (Number.isNaN(left)) return `${trouble}${wordsOf(reason)}`;
  const again =
    left > 0 ? t('{{trouble}}, trying again in {{left}} s', { trouble, left }) : t('{{trouble}}, trying again now', { trouble });
  return `${again}${wordsOf(reason)}`;
}

/** `undefined`: it takes no time of its own. */
function doingWords(action: Action): string | undefined {
  switch (action.action) {
    case 'run':
      return action.args.command.trim()
        ? t('Running {{command}}', { command: commandWords(action.args.command) })
        : t('Waiting for output');
    case 'run_ipython':
      return t('Running Python');
    case 'edit':
      return action.args.command === 'view'
        ? t('Reading {{path}}', { path: fileName(action.args.path) })
        : t('Editing {{path}}', { path: fileName(action.args.path) });
    case 'write':
      return t('Editing {{path}}', { path: fileName(action.args.path) });
    case 'read':
      return action.args.search
        ? t('Searching for {{pattern}}', { pattern: firstLine(action.args.search.pattern) })
        : t('Reading {{path}}', { path: fileName(action.args.path) });
    case 'browse':
      return t('Opening {{url}}', { url: hostName(action.args.url) });
    case 'browse_interactive':
      return t('Using the browser');
    case 'delegate':
      return t('{{agent}} is working', { agent: action.args.agent });
    case 'recall':
      return action.args.note ? t('Noting something for later') : t('Searching earlier conversations');
    case 'call_tool_mcp':
      return t('Calling {{name}}', { name: action.args.name });
    default:
      return undefined;
  }
}

/** The same when nobody knows whether it still holds: "Was running npm test". Other languages cannot bend a sentence by its first word. */
export function pastWords(text: string): string {
  if (spoken().translate) return t('Last: {{sentence}}', { sentence: text });
  const isNow = /^(?:\w+ing|Ready|Your turn)\b|^.+ is working$/.test(text);
  return isNow ? `Was ${text.charAt(0).toLowerCase()}${text.slice(1)}`.replace(/ is working$/, ' working') : text;
}

/** The sentence of a row in a list: the agent's state where the server sends it, else its status. `asks`: its last message asks for an answer. */
export function conversationSentence(info: ConversationInfo, asks = false): StateSentence {
  const [question] = info.network_questions ?? [];
  if (question) return { glyph: 'waiting', text: t('Wants to reach {{host}}', { host: question.host }), tone: 'wait' };
  const state = parseAgentState(info.agent_state);
  if (state) return stateSentence({ state, asks, reason: info.reason ?? '' });
  switch (info.status) {
    case 'STARTING':
      return stateSentence({ state: 'loading' });
    case 'RUNNING':
      return { glyph: 'dot', text: t('Idle') };
    case 'ERROR':
      return stateSentence({ state: 'error' });
    case 'STOPPED':
    case 'ARCHIVED':
      return { glyph: 'held', text: t('Stopped') };
  }
}

export function isWaiting(info: ConversationInfo): boolean {
  const state = parseAgentState(info.agent_state);
  const asks = (info.network_questions?.length ?? 0) > 0;
  return asks || state === 'awaiting_user_input' || state === 'awaiting_user_confirmation';
}

export function isRunningNow(info: ConversationInfo): boolean {
  return conversationSentence(info).glyph === 'running';
}
