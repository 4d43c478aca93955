import { BookOpen, Lightbulb, ListChecks, TextQuote } from 'lucide-react';
import { Prose } from '../../code/prose.tsx';
import { Well } from '../../code/output.tsx';
import { clock } from '../../copy/figures.ts';
import { firstSentence } from '../../copy/shorten.ts';
import { StateGlyph } from '../../ui/icon.tsx';
import type { ActionCard, Card, ObservationCard } from './card.tsx';
import { t } from '../../lib/language/text.ts';

export const thinkCard: ActionCard<'think'> = ({ action }) => thoughtCard(action.args.thought);

/** Of the agent's tool, and of the model itself before it answers. */
export function thoughtCard(thought: string): Card {
  return {
    icon: Lightbulb,
    verb: t('Thought'),
    detail: firstSentence(thought),
    facts: [],
    name: `${t('Thought')} ${firstSentence(thought)}`,
    open: 'never',
    copy: thought,
    body: () => <Prose text={thought} quiet />,
  };
}

export const summarizeCard: ActionCard<'summarize'> = ({ action }) => ({
  icon: TextQuote,
  verb: t('Summary'),
  detail: firstSentence(action.args.summary),
  facts: [],
  name: `${t('Summary')} ${firstSentence(action.args.summary)}`,
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
  verb: t('Noted for later conversations'),
  detail: query,
  facts: [{ text: clock(timestamp) }],
  name: `${t('Noted for later conversations')}, ${query}`,
  open: 'never',
  copy: content,
  body: () => (
    <Well
      text={`${content}\n\n${t('To correct it: {{file}}, in Tendon’s folder on the server (tendon notes prints where).', { file: note?.file ?? '' })}`}
      rows
    />
  ),
});

/** What the agent looked for in this conversation and earlier ones. */
const searchCard: ObservationCard<'recall'> = ({ content, extras: { query = '' }, timestamp }) => ({
  icon: BookOpen,
  verb: t('Searched earlier conversations'),
  detail: query,
  facts: [{ text: clock(timestamp) }],
  name: `${t('Searched earlier conversations')}, ${query}`,
  open: 'never',
  ...(content && { copy: content, body: () => <Well text={content} rows /> }),
});

const notesCard: ObservationCard<'recall'> = ({ extras, timestamp }) => {
  const notes = extras.microagent_knowledge;
  const sources = [
    ...(extras.repo_instructions ? [t('project notes')] : []),
    ...(notes.length > 0
      ? [t('{{count}} notes on “{{trigger}}”', { count: notes.length, trigger: notes[0]!.trigger || notes[0]!.name })]
      : []),
  ].join(', ');
  const text = [extras.repo_instructions, ...notes.map((note) => `**${note.name}**\n\n${note.content}`)].filter(Boolean).join('\n\n');
  const isWorkspace = extras.recall_type === 'workspace_context' || extras.recall_type === 'environment_info';
  const verb = sources === '' ? t('Looked for notes') : isWorkspace ? t('Read the project notes') : t('Read notes');
  return {
    icon: BookOpen,
    verb,
    detail: sources || t('none for this'),
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
  const detail = isPlan ? t('{{done}} of {{all}}', { done, all: tasks.length }) : '';
  return {
    icon: ListChecks,
    verb: isPlan ? t('Updated the plan') : t('Looked at the plan'),
    detail,
    facts: [],
    name: `${t('Updated the plan')} ${detail}`,
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
