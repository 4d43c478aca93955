import { cutMiddle, NullObservation, RecallObservation, type Action, type ObservationDraft } from '@tendon/protocol';
import type { MissedKnowledge } from './engine-state.ts';
import { trackTasks, type Tasks } from './plan.ts';
import type { LibraryContent } from '../knowledge/library.ts';
import { WORKSPACE } from '../prompt/excerpt.ts';
import { notice } from './notices.ts';
import { mentions, searchable } from '../knowledge/mentions.ts';
import type { Microagent } from '../knowledge/microagent.ts';
import { workspaceContext } from '../knowledge/workspace-context.ts';

/** What answers are made of. */
export interface AnswerSources {
  readonly now: Date;
  readonly known: LibraryContent;
  /** Names of the microagents that the model has been shown. */
  readonly shownMicroagents: ReadonlySet<string>;
  /** Knowledge that earlier messages missed because the workspace was not readable. */
  readonly missed: MissedKnowledge | undefined;
  /** Found in the conversation's messages; only for a query. */
  readonly hits?: readonly string[];
  /** The plan before the action; only for `task_tracking`. */
  readonly plan?: Tasks;
}

/** The engine's own answer to an action that it was given to answer; what nothing here can carry out is answered with that. */
export function answerCore(action: Action, sources: AnswerSources): ObservationDraft {
  if (action.action === 'recall') return recall(action.args, sources);
  if (action.action === 'task_tracking') return trackTasks(action, sources.plan ?? []);
  return action.action === 'think' ? notice.thought : notice.unavailable;
}

/**
 * For a message: the instructions when a task begins, otherwise the knowledge that its words trigger; with that, what earlier messages missed. With
 * `hits`, the knowledge about a query.
 */
export function recall(
  { query, recall_type }: Pick<Action<'recall'>['args'], 'query' | 'recall_type'>,
  { now, known, shownMicroagents, missed, hits }: AnswerSources,
): ObservationDraft<'recall'> | ObservationDraft<'null'> {
  const context = recall_type === 'workspace_context' || recall_type === 'environment_info';
  if (hits && !context) return answerQuery({ query, recall_type }, known, hits);
  const words = missed ? `${missed.words}\n${query}` : query;
  const microagent_knowledge = triggered(known.microagents, words, shownMicroagents);
  // A client's own query is not a message: its missed knowledge is not delivered later.
  const missing = hits || known.missing === undefined ? {} : { missing: known.missing };
  const about = known.missing === undefined ? '' : `The instructions of the workspace could not be read: ${known.missing}`;
  if (!context) {
    const isNothing = microagent_knowledge.length === 0 && missing.missing === undefined;
    return isNothing ? nothing() : RecallObservation.create(about, { recall_type, microagent_knowledge, ...missing });
  }
  return RecallObservation.create(['Workspace context', about].filter(Boolean).join('\n'), {
    recall_type,
    date: now.toISOString().slice(0, 10),
    working_dir: WORKSPACE,
    ...workspaceContext(known),
    microagent_knowledge,
    ...missing,
  });
}

function nothing(): ObservationDraft<'null'> {
  return NullObservation.create('', {});
}

function answerQuery(
  { query, recall_type }: Pick<Action<'recall'>['args'], 'query' | 'recall_type'>,
  { microagents }: LibraryContent,
  hits: readonly string[],
): ObservationDraft<'recall'> {
  const searched = searchable(query);
  const named = microagents.filter(({ name }) => mentions(searched, name));
  const byTrigger = triggered(microagents, query, NONE);
  const found: Knowledge[] = [...byTrigger];
  for (const { name, content } of named)
    if (!byTrigger.some((knowledge) => knowledge.name === name)) found.push({ name, trigger: '', content: cutMiddle(content) });
  const texts = [...found.map(({ name, content }) => `${name}:\n${content}`), ...hits];
  return RecallObservation.create(cutMiddle(texts.join('\n\n')), { recall_type, query, microagent_knowledge: found.slice(0, 20) });
}

const NONE: ReadonlySet<string> = new Set();

type Knowledge = {
  readonly name: string;
  /** The word that brought it; empty when it was asked for by name. */
  readonly trigger: string;
  readonly content: string;
};

/** UTF-16 units of everything that one recall brings. */
const MAX_CHARS = 256 * 1024;

/** Knowledge one of whose triggers the text mentions, but for what was shown already. */
function triggered(microagents: readonly Microagent[], text: string, shown: ReadonlySet<string>): Knowledge[] {
  const searched = searchable(text);
  const found: Knowledge[] = [];
  let left = MAX_CHARS;
  for (const { name, triggers, content } of microagents) {
    const trigger = triggers.find((each) => mentions(searched, each));
    if (trigger === undefined || shown.has(name) || content.length > left) continue;
    left -= content.length;
    found.push({ name, trigger, content });
  }
  return found;
}
