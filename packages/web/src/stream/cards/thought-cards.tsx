import { BookOpen, Lightbulb, ListChecks, TextQuote } from 'lucide-react';
import { Prose } from '../../code/prose.tsx';
import { Well } from '../../code/output.tsx';
import { count, clock } from '../../copy/figures.ts';
import { firstSentence } from '../../copy/shorten.ts';
import { StateGlyph } from '../../ui/icon.tsx';
import type { ActionCard, Card, ObservationCard } from './card.tsx';

export const thinkCard: ActionCard<'think'> = ({ action }) => thoughtCard(action.args.thought);

/** Of the agent's tool, and of the model itself before it answers. */
export function thoughtCard(thought: string): Card {
  return {
    icon: Lightbulb,
    verb: 'Thought',
    detail: firstSentence(thought),
    facts: [],
    name: `Thought ${firstSentence(thought)}`,
    open: 'never',
    copy: thought,
    body: () => <Prose text={thought} quiet />,
  };
}

export const summarizeCard: ActionCard<'summarize'> = ({ action }) => ({
  icon: TextQuote,
  verb: 'Summary',
  detail: firstSentence(action.args.summary),
  facts: [],
  name: `Summary ${firstSentence(action.args.summary)}`,
  open: 'never',
  copy: action.args.summary,
  body: () => <Prose text={action.args.summary} />,
});

export const recallCard: ObservationCard<'recall'> = (observation) =>
  observation.extras.note
    ? notedCard(observation)
    : observation.extras.recall_type === 'default'
      ? searchCard(observation)
      : notesCard(observation);

/** What later conversations begin with, and the file in which a person corrects it. */
const notedCard: ObservationCard<'recall'> = ({ content, extras: { query = '', note }, timestamp }) => ({
  icon: BookOpen,
  verb: 'Noted for later conversations',
  detail: query,
  facts: [{ text: clock(timestamp) }],
  name: `Noted for later conversations, ${query}`,
  open: 'never',
  copy: content,
  body: () => (
    <Well text={`${content}\n\nTo correct it: ${note?.file}, in Tendon’s folder on the server (tendon notes prints where).`} rows />
  ),
});

/** What the agent looked for in this conversation and earlier ones. */
const searchCard: ObservationCard<'recall'> = ({ content, extras: { query = '' }, timestamp }) => ({
  icon: BookOpen,
  verb: 'Searched earlier conversations',
  detail: query,
  facts: [{ text: clock(timestamp) }],
  name: `Searched earlier conversations, ${query}`,
  open: 'never',
  ...(content && { copy: content, body: () => <Well text={content} rows /> }),
});

const notesCard: ObservationCard<'recall'> = ({ extras, timestamp }) => {
  const notes = extras.microagent_knowledge;
  const sources = [
    ...(extras.repo_instructions ? ['project notes'] : []),
    ...(notes.length > 0 ? [`${count(notes.length, 'note')} on “${notes[0]!.trigger || notes[0]!.name}”`] : []),
  ].join(', ');
  const text = [extras.repo_instructions, ...notes.map((note) => `**${note.name}**\n\n${note.content}`)].filter(Boolean).join('\n\n');
  const isWorkspace = extras.recall_type === 'workspace_context' || extras.recall_type === 'environment_info';
  const verb = sources === '' ? 'Looked for notes' : isWorkspace ? 'Read the project notes' : 'Read notes';
  return {
    icon: BookOpen,
    verb,
    detail: sources || 'none for this',
    facts: [{ text: clock(timestamp) }],
    name: `${verb}, ${sources}`,
    open: 'never',
    ...(text && { copy: text, body: () => <Prose text={text} quiet /> }),
  };
};

const GLYPHS = { done: 'done', in_progress: 'running' } as const;

export const planCard: ActionCard<'task_tracking'> = ({ action }) => {
  const tasks = action.args.task_list;
  const done = tasks.filter((task) => task.status === 'done').length;
  const isPlan = action.args.command === 'plan' && tasks.length > 0;
  const detail = isPlan ? `${done} of ${tasks.length}` : '';
  return {
    icon: ListChecks,
    verb: isPlan ? 'Updated the plan' : 'Looked at the plan',
    detail,
    facts: [],
    name: `Updated the plan ${detail}`,
    open: 'never',
    ...(isPlan && {
      body: () => (
        <ul className="plan">
          {tasks.map((task) => (
            <li key={task.id}>
              <StateGlyph glyph={GLYPHS[task.status as keyof typeof GLYPHS] ?? 'dot'} />
              {task.title}
            </li>
          ))}
        </ul>
      ),
    }),
  };
};
