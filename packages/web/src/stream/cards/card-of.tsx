import type { ActionKind, Event, Observation, ObservationKind } from '@tendon/protocol';
import { Braces, Check, FilePlus2, FileText, FoldVertical, Globe, NotebookText, Terminal } from 'lucide-react';
import { Well } from '../../code/output.tsx';
import { failureText, hasFailed } from '../../conversation/outcome.ts';
import { firstLine } from '../../copy/shorten.ts';
import type { StepItem } from '../stream-item.ts';
import { browseCard, browseInteractiveCard } from './browse-card.tsx';
import { delegateCard, toolCard } from './call-cards.tsx';
import { type ActionCard, type ActionStep, type Card, failureFacts, type ObservationCard, spoken } from './card.tsx';
import { ipythonCard, runCard } from './command-cards.tsx';
import { condensationCard } from './condensation-card.tsx';
import { finishCard, rejectCard } from './end-cards.tsx';
import { errorCard, rejectedCard, stateCard } from './error-card.tsx';
import { editCard, editedCard, readCard, writeCard } from './file-cards.tsx';
import { restoreCard } from './restore-card.tsx';
import { planCard, recallCard, summarizeCard, thinkCard, thoughtCard } from './thought-cards.tsx';
import { type PlainText, t, textKey } from '../../lib/language/text.ts';

/** What a step looks like. Total: any step has a card. */
export function cardOf(step: StepItem, live?: string): Card {
  const { action, observation, unknown, wasAsked, wasStopped, reasoning } = step;
  if (reasoning !== undefined) return thoughtCard(reasoning);
  if (action) return (ACTION_CARDS[action.action] as (given: ActionStep) => Card)({ action, observation, live, wasAsked, wasStopped });
  if (observation?.observation === 'agent_state_changed') return stateCard(observation, step.attempts);
  if (observation) return (OBSERVATION_CARDS[observation.observation] as (given: typeof observation) => Card)(observation);
  const raw = unknown?.raw ?? {};
  const name = [raw.action, raw.observation].find((kind) => typeof kind === 'string') as string | undefined;
  const text = [raw.message, raw.content].find((value) => typeof value === 'string' && value !== '') as string | undefined;
  return genericCard(name ?? 'event', t('a kind this version does not know'), unknown ? [unknown] : [], text);
}

/** For actions that are rare, or never rows of their own. */
const rareAction = (verb: PlainText): ((step: ActionStep) => Card) => {
  return (step) =>
    genericCard(
      step.action.action,
      t(verb),
      [step.action, step.observation].filter((event) => event !== undefined),
    );
};

/** A card for every kind of action: a new kind does not compile until it is here. */
const ACTION_CARDS = {
  null: rareAction(textKey('nothing to do')),
  initialize: rareAction(textKey('set the agent up')),
  start: rareAction(textKey('began a task')),
  pause: rareAction(textKey('asked for a pause')),
  resume: rareAction(textKey('asked to go on')),
  stop: rareAction(textKey('asked to stop')),
  push: rareAction(textKey('pushes a branch')),
  send_pr: rareAction(textKey('opens a pull request')),
  call_tool_mcp: toolCard,
  run: runCard,
  kill: rareAction(textKey('ended a command')),
  run_ipython: ipythonCard,
  read: readCard,
  write: writeCard,
  edit: editCard,
  browse: browseCard,
  browse_interactive: browseInteractiveCard,
  message: rareAction(textKey('a message')),
  system: rareAction(textKey('the prompt')),
  change_agent_state: rareAction(textKey('asked for a state')),
  think: thinkCard,
  finish: finishCard,
  reject: rejectCard,
  delegate: delegateCard,
  recall: rareAction(textKey('looks for notes')),
  summarize: summarizeCard,
  condensation: condensationCard,
  condensation_request: rareAction(textKey('asked to shorten the history')),
  task_tracking: planCard,
  loop_recovery: rareAction(textKey('left a loop')),
  restore_checkpoint: restoreCard,
  add_task: rareAction(textKey('added a task')),
  modify_task: rareAction(textKey('changed a task')),
} as const satisfies { readonly [K in ActionKind]: ActionCard<K> };

/** For observations whose action is not known, e.g. of a person's own command on another server. */
const row = (icon: Card['icon'], verb: string, object: string, observation: Observation): Card => {
  const facts = failureFacts(observation);
  const content = hasFailed(observation) ? failureText(observation) : observation.content;
  return {
    ...(icon && { icon }),
    verb,
    object,
    facts,
    name: `${verb} ${object}${spoken(facts)}`,
    open: facts.length > 0 ? 'always' : 'newest',
    copy: content,
    ...(content.trim() && { body: () => <Well text={content} rows /> }),
  };
};

const rareObservation = (observation: Observation): Card =>
  genericCard(observation.observation, observation.content.slice(0, 120), [observation]);

/** A card for every kind of observation that stands alone. */
const OBSERVATION_CARDS = {
  null: rareObservation,
  run: (event) => row(Terminal, t('Ran'), firstLine(event.extras.command), event),
  run_ipython: (event) => row(NotebookText, t('Ran Python'), firstLine(event.extras.code), event),
  read: (event) => row(FileText, t('Read'), event.extras.path, event),
  write: (event) => row(FilePlus2, t('Wrote'), event.extras.path, event),
  edit: editedCard,
  download: (event) => row(FileText, t('Downloaded'), event.extras.file_path, event),
  browse: (event) => row(Globe, t('Opened'), event.extras.url, event),
  chat: rareObservation,
  message: rareObservation,
  agent_state_changed: stateCard,
  think: rareObservation,
  condense: (event) => ({
    icon: FoldVertical,
    verb: t('Shortened the history'),
    detail: event.content,
    facts: [],
    name: t('Shortened the history'),
    open: 'never',
  }),
  delegate: rareObservation,
  recall: recallCard,
  task_tracking: rareObservation,
  loop_detection: rareObservation,
  mcp: rareObservation,
  error: errorCard,
  restore_checkpoint: (event) => ({ icon: Check, verb: event.content, facts: [], name: event.content, open: 'never' }),
  success: (event) => ({ icon: Check, verb: event.content, facts: [], name: event.content, open: 'never' }),
  user_rejected: rejectedCard,
} as const satisfies { readonly [K in ObservationKind]: ObservationCard<K> };

/** For kinds that this version does not know, and for those that are too rare for a card of their own. */
function genericCard(name: string, detail: string, events: readonly Event[], text = ''): Card {
  const json = JSON.stringify(
    events.map((event) => ('unknown' in event ? event.raw : event)),
    null,
    2,
  );
  return {
    icon: Braces,
    object: name,
    detail,
    facts: [],
    name: `${name}, ${detail}`,
    open: 'never',
    copy: json,
    body: () => (
      <div className="flex flex-col gap-1">
        {text && <p className="text-ink-2">{text}</p>}
        <Well text={json} />
      </div>
    ),
  };
}
