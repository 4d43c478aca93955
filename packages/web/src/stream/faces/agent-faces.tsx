import type { LlmMetrics, ToolCallMetadata } from '@tendon/protocol';
import { BookOpen, ChevronRight, CircleCheck, CircleSlash, FoldVertical, Lightbulb, ListChecks, TextQuote } from 'lucide-react';
import { Prose } from '../../code/prose.tsx';
import { StateGlyph } from '../../ui/state-glyph.tsx';
import { count, money } from '../../words/counts.ts';
import { isDemoModel } from '../../words/demo-model.ts';
import { clock } from '../../words/times.ts';
import { observed, type ActionFace, type ObservationFace } from '../face.ts';
import { durationFacts, outcomeFacts, spoken } from './facts.ts';

export const thinkFace: ActionFace<'think'> = ({ action }) => {
  const { thought } = action.args;
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
};

const COMPLETED = { true: 'task completed', partial: 'partly done', false: 'not done' } as const;

export const finishFace: ActionFace<'finish'> = ({ action }) => {
  const { final_thought: final, thought, outputs, task_completed: completed } = action.args;
  const detail = completed ? COMPLETED[completed] : 'task completed';
  const cost = action.llm_metrics?.accumulated_cost;
  const facts = [
    { text: clock(action.timestamp) },
    ...(isDemoModel(modelOf(action)) ? [{ text: 'demo' }] : cost ? [{ text: money(cost) }] : []),
  ];
  const summary = final || thought;
  return {
    icon: CircleCheck,
    verb: 'Done',
    strong: 'bold',
    detail,
    facts,
    tone: completed === 'false' ? 'wait' : 'ok',
    name: `Done, ${detail}`,
    open: 'always',
    copy: summary,
    ...((summary || Object.keys(outputs).length > 0) && {
      body: () => (
        <div className="flex flex-col gap-2">
          {summary && <Prose text={summary} />}
          <Outputs outputs={outputs} />
        </div>
      ),
    }),
  };
};

export const rejectFace: ActionFace<'reject'> = ({ action }) => {
  const reason = typeof action.args.outputs.reason === 'string' ? action.args.outputs.reason : action.args.thought;
  return {
    icon: CircleSlash,
    verb: 'Declined',
    strong: 'bold',
    detail: reason,
    facts: [],
    tone: 'wait',
    name: `Declined ${reason}`,
    open: 'always',
    body: () => <Outputs outputs={action.args.outputs} />,
  };
};

function Outputs({ outputs }: { readonly outputs: Readonly<Record<string, unknown>> }) {
  const entries = Object.entries(outputs);
  if (entries.length === 0) return null;
  return (
    <div className="prose">
      <ul>
        {entries.map(([name, value]) => (
          <li key={name}>
            {name === 'content' ? '' : `${name}: `}
            {typeof value === 'string' ? value : JSON.stringify(value)}
          </li>
        ))}
      </ul>
    </div>
  );
}

export const delegateFace: ActionFace<'delegate'> = (step) => {
  const { agent, inputs } = step.action.args;
  const result = observed('delegate', step.observation);
  const task = typeof inputs.task === 'string' ? inputs.task : '';
  const detail = result?.content || task;
  const facts = [...outcomeFacts(step), ...durationFacts(step)];
  return {
    icon: ChevronRight,
    verb: agent,
    strong: 'plain',
    detail,
    facts,
    name: `${agent} ${detail}${spoken(facts)}`,
    open: 'never',
    ...(result && task && { body: () => <p className="thread text-ink-2">{task}</p> }),
  };
};

export const condensationFace: ActionFace<'condensation'> = ({ action }) => {
  const { forgotten_event_ids: ids, forgotten_events_start_id: from, forgotten_events_end_id: to, summary } = action.args;
  const forgotten = ids?.length ?? (from !== null && to !== null ? to - from + 1 : 0);
  const detail = `${count(forgotten, 'event')} became a summary, nothing is lost`;
  return {
    icon: FoldVertical,
    verb: 'Shortened the history',
    detail,
    facts: [{ text: clock(action.timestamp) }],
    name: `Shortened the history, ${detail}`,
    open: 'never',
    ...(summary && { copy: summary, body: () => <Prose text={summary} quiet /> }),
  };
};

export const summarizeFace: ActionFace<'summarize'> = ({ action }) => ({
  icon: TextQuote,
  verb: 'Summary',
  detail: firstSentence(action.args.summary),
  facts: [],
  name: `Summary ${firstSentence(action.args.summary)}`,
  open: 'never',
  copy: action.args.summary,
  body: () => <Prose text={action.args.summary} />,
});

const GLYPHS = { done: 'done', in_progress: 'running' } as const;

export const planFace: ActionFace<'task_tracking'> = ({ action }) => {
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

export const recallFace: ObservationFace<'recall'> = ({ extras, timestamp }) => {
  const notes = extras.microagent_knowledge;
  const sources = [
    ...(extras.repo_instructions ? ['project notes'] : []),
    ...(notes.length > 0 ? [`${count(notes.length, 'note')} on “${notes[0]!.trigger || notes[0]!.name}”`] : []),
  ].join(', ');
  const text = [extras.repo_instructions, ...notes.map((note) => `**${note.name}**\n\n${note.content}`)].filter(Boolean).join('\n\n');
  const isWorkspace = extras.recall_type === 'workspace_context' || extras.recall_type === 'environment_info';
  const verb = sources === '' ? 'Looked for notes' : isWorkspace ? 'Recalled the project notes' : 'Recalled notes';
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

export function firstSentence(text: string): string {
  return /^[^\n]*?[.!?](?=\s|$)/.exec(text.trim())?.[0] ?? text.trim().split('\n', 1)[0]!;
}

function modelOf({
  tool_call_metadata: call,
  llm_metrics: metrics,
}: {
  readonly tool_call_metadata?: ToolCallMetadata;
  readonly llm_metrics?: LlmMetrics;
}) {
  return call?.model_response.model ?? metrics?.accumulated_token_usage.model;
}
