/**
 * Holds what the page says against the log, event by event: the sentence of the state (state line and title) and the facts of each row, built
 * by the functions that the components use. What the log says is read here a second time, in another way.
 */
import { isAction, isObservation, type Action, type Event, type Observation } from '@tendon/protocol';
import { INITIAL_STATE, reduce } from '@tendon/protocol/reduce';
import { pastWords } from '../copy/state-sentence.ts';
import { stateNow } from '../conversation/state-now.ts';
import { cardOf } from './cards/card-of.tsx';
import { foldTurns } from './fold-turns.ts';
import { projectItems } from './project-items.ts';
import type { StepItem, StreamItem } from './stream-item.ts';

/** What the log contradicts, in words; empty when all is true. */
export function untrueSentences(events: readonly Event[]): readonly string[] {
  const found = new Set<string>();
  let state = INITIAL_STATE;
  for (const [index, event] of events.entries()) {
    state = reduce(state, event);
    const seen = events.slice(0, index + 1);
    const { text } = stateNow({ state, events: seen, status: undefined, answer: undefined });
    for (const problem of untrueOfState(text, seen)) found.add(`after event ${event.id}: "${text}", but ${problem}`);
    for (const problem of untrueOfRow(event, seen)) found.add(problem);
  }
  const isOver = !['running', 'paused'].includes(state.agentState);
  for (const item of foldTurns(projectItems(events), isOver)) for (const problem of untrueOfItem(item, events)) found.add(problem);
  return [...found];
}

const OPENINGS: Readonly<Record<string, RegExp>> = {
  loading: /^(Starting|Opening)/,
  init: /^Ready$/,
  running: /^(Thinking|Running|Editing|Reading|Searching|Opening|Using|Calling|Noting|Waiting for output|.+ is working)/,
  awaiting_user_input: /^(Ready|Your turn|Asked you something)$/,
  paused: /^(Paused|Pausing)/,
  stopped: /^Stopped by you$/,
  finished: /^Done/,
  rejected: /^Declined/,
  error: /^(Stopped: |Paused after \d|Paused: the budget)/,
  rate_limited: /(asked for a pause|did not answer|failed)/,
  awaiting_user_confirmation: /^Waiting for your decision$/,
  user_confirmed: /^Approved/,
  user_rejected: /^Rejected/,
};

function stateOf(events: readonly Event[]): string {
  const last = events.filter((event) => isObservation(event) && event.observation === 'agent_state_changed').at(-1);
  return last === undefined ? 'loading' : String((last as Observation<'agent_state_changed'>).extras.agent_state);
}

/** The agent's actions that somebody must answer and nobody has. */
function open(events: readonly Event[]): readonly Action[] {
  const answered = new Set(events.map((event) => (isObservation(event) ? event.cause : undefined)));
  return events.filter((event): event is Action => isAction(event)).filter(({ id, source }) => source === 'agent' && !answered.has(id));
}

/** What the log contradicts in a sentence of the state. */
export function* untrueOfState(text: string, events: readonly Event[]): Generator<string> {
  const state = stateOf(events);
  if (!OPENINGS[state]?.test(text)) yield `the state is ${state}`;
  if (/\b(Running|Editing|Reading|Writing|Calling|Thinking)\b/.test(pastWords(text))) yield 'it is in the present while nobody knows';
  const [, named] = /^Running (?!Python)(.+?)…?$/.exec(text) ?? [];
  const commands = open(events).flatMap((action) => (action.action === 'run' ? [action.args.command] : []));
  if (named && !commands.some((command) => command.includes(named))) yield 'no such command is open';
  const files = open(events).flatMap((action) => ('path' in action.args ? [String(action.args.path)] : []));
  const [, file] = /^(?:Editing|Reading) (.+)$/.exec(text) ?? [];
  if (file && !files.some((path) => path.endsWith(file))) yield 'no action on that file is open';
  const works = open(events).some(({ action }) => action === 'run' || action === 'edit' || action === 'read' || action === 'write');
  if (state === 'running' && text === 'Thinking' && works) yield 'an action is open';
  if (text.startsWith('Pausing') && open(events).length === 0) yield 'nothing is open';
  if (/asked for a pause/.test(text) && /HTTP 5\d\d|ECONN/.test(text)) yield 'the provider failed';
  yield* untrueOfDone(text, events);
}

function* untrueOfDone(text: string, events: readonly Event[]): Generator<string> {
  if (!text.startsWith('Done')) return;
  const turn = sinceRest(events);
  const edited = new Set(
    turn.flatMap((event) =>
      isObservation(event) && (event.observation === 'edit' || event.observation === 'write') && !event.content.startsWith('ERROR:')
        ? [event.extras.path]
        : [],
    ),
  );
  const [, count] = /^Done, (\d+) files? edited$/.exec(text) ?? [];
  if (count !== undefined && Number(count) !== edited.size) yield `${edited.size} files were edited`;
  if (!text.includes('nothing changed')) return;
  if (edited.size > 0) yield 'files were edited';
  if (turn.some((event) => isAction(event) && ['run', 'run_ipython', 'delegate', 'call_tool_mcp'].includes(event.action)))
    yield 'commands ran, and what they changed is not known';
}

/** What came behind the last state in which the agent rested before it worked. */
function sinceRest(events: readonly Event[]): readonly Event[] {
  let rest = 0;
  let start = 0;
  for (const [index, event] of events.entries()) {
    if (!isObservation(event) || event.observation !== 'agent_state_changed') continue;
    if (['awaiting_user_input', 'finished', 'rejected', 'stopped', 'error'].includes(event.extras.agent_state)) rest = index + 1;
    else start = rest;
  }
  return events.slice(start);
}

/** The words beside each command that has an answer. */
export function factsOfCommands(events: readonly Event[]): readonly string[] {
  const steps = projectItems(events).filter((item): item is StepItem => item.type === 'step' && item.observation?.observation === 'run');
  return steps.map((item) => wordsOf(cardOf(item).facts));
}

function wordsOf(facts: readonly { readonly text: string }[]): string {
  return facts.map(({ text }) => text).join(', ');
}

/** The row of a step, when its observation comes. */
function untrueOfRow(event: Event, events: readonly Event[]): readonly string[] {
  if (!isObservation(event)) return [];
  const step = projectItems(events).find((item): item is StepItem => item.type === 'step' && item.observation?.id === event.id);
  return step ? [...untrueOfItem(step, events)] : [];
}

function* untrueOfItem(item: StreamItem, events: readonly Event[]): Generator<string> {
  if (item.type === 'fold') for (const row of item.rows) yield* untrueOfItem(row, events);
  if (item.type === 'note' && item.text.includes('you were answering')) yield `row ${item.id} is a sentence to the model`;
  if (item.type !== 'step' || !item.observation) return;
  const card = cardOf(item);
  const row = `row ${item.id} "${card.name}"`;
  const { observation } = item;
  const facts = card.facts.filter(({ text }) => !/^[+−]\d/.test(text));
  const looksBad = card.tone === 'bad' || facts.some(({ tone }) => tone === 'bad');
  const isStopped = facts.some(({ text }) => text === 'stopped by you');
  if (failsByLog(observation) && !looksBad && !isStopped) yield `${row} looks as if it had worked`;
  if (!failsByLog(observation) && looksBad && observation.observation !== 'user_rejected') yield `${row} looks as if it had failed`;
  if (isStopped && !events.some((event) => isAction(event) && event.source === 'user' && event.id < observation.id && isStop(event)))
    yield `${row}: nobody stopped it`;
  if (observation.observation === 'run') yield* untrueOfCommand(row, wordsOf(facts), observation);
  if (/\bpause\b/.test(card.name) && /HTTP 5\d\d|ECONN/.test(card.name)) yield `${row} calls a failure a pause`;
  if (card.name.includes('you were answering')) yield `${row} is a sentence to the model`;
}

function* untrueOfCommand(row: string, facts: string, { content, extras }: Observation<'run'>): Generator<string> {
  const { exit_code: code, suffix } = extras.metadata;
  if (facts.includes('passed') && code !== 0) yield `${row}: it ended with ${code}`;
  const [, shown] = /exit (-?\d+)/.exec(facts) ?? [];
  if (shown !== undefined && Number(shown) !== code) yield `${row}: it ended with ${code}`;
  const lived = code === -1 && !content.startsWith('ERROR:') && /still running|waits for input|no new output|does not end/.test(suffix);
  if (/running\b|waited for input/.test(facts.replace(/(nothing|another) was running/, '')) && !lived) yield `${row}: nothing ran on`;
}

function isStop(action: Action): boolean {
  return action.action === 'change_agent_state' && action.args.agent_state === 'stopped';
}

function failsByLog(observation: Observation): boolean {
  if (observation.observation === 'error') return true;
  if (observation.observation === 'agent_state_changed') return observation.extras.agent_state === 'error';
  if (observation.content.startsWith('ERROR:')) return true;
  if (observation.observation === 'run') {
    const { exit_code: code, suffix } = observation.extras.metadata;
    return code > 0 || code < -1 || suffix.includes('Not executed:');
  }
  if (observation.observation === 'browse') return observation.extras.error;
  return observation.success === false;
}
