import { z } from 'zod';
import { AGENT_STATES } from '../agent-state.ts';
import { defineAction, defineObservation, outputs, thought } from '../define.ts';

const agentState = z.enum(AGENT_STATES);

export const ChangeAgentStateAction = defineAction({
  kind: 'change_agent_state',
  /** `edited`: what is to run in place of the command or cell that waits, with `user_confirmed`. */
  args: () => ({
    agent_state: agentState,
    thought,
    edited: z
      .string()
      .max(64 * 1024)
      .optional(),
  }),
  message: (args) => `Agent state changed to ${args.agent_state}`,
});

export const ThinkAction = defineAction({
  kind: 'think',
  args: () => ({ thought }),
  traits: { answeredBy: 'core' },
  message: (args) => `I am thinking...: ${args.thought}`,
});

export const FinishAction = defineAction({
  kind: 'finish',
  args: () => ({
    final_thought: z.string().default(''),
    outputs,
    thought,
    /** `openhands-events.md` and 0.28–0.50. */
    task_completed: z.enum(['true', 'partial', 'false']).nullable().optional(),
  }),
  message: (args) => args.thought || "All done! What's next on the agenda?",
});

export const RejectAction = defineAction({
  kind: 'reject',
  args: () => ({ outputs, thought }),
  message: ({ outputs: { reason } }) => {
    const why = typeof reason === 'string' ? reason : JSON.stringify(reason ?? '');
    return reason ? `Task is rejected by the agent. Reason: ${why}` : 'Task is rejected by the agent.';
  },
});

export const DelegateAction = defineAction({
  kind: 'delegate',
  /** `time_limit`: seconds, after which its work is stopped. `isolated`: it works in a copy of the workspace. */
  args: () => ({
    agent: z.string(),
    inputs: outputs,
    thought,
    time_limit: z.number().positive().optional(),
    isolated: z.boolean().optional(),
  }),
  traits: { answeredBy: 'core' },
  message: (args) => `I'm asking ${args.agent} for help with this task.`,
});

const recallType = z.enum(['workspace_context', 'knowledge', 'environment_info', 'knowledge_microagent', 'default']);

const noteAbout = z.enum(['user', 'repository']);

export const RecallAction = defineAction({
  kind: 'recall',
  args: () => ({
    recall_type: recallType.default('knowledge'),
    query: z.string(),
    /** The agent's note for later conversations: `query` is its line, empty when the line `replaces` is removed. */
    note: z.object({ about: noteAbout, replaces: z.string().optional() }).optional(),
    thought,
  }),
  traits: { answeredBy: 'core' },
  message: ({ query, note }) => (note ? `Noting: ${query.slice(0, 50)}` : `Retrieving content for: ${query.slice(0, 50)}`),
});

export const SummarizeAction = defineAction({
  kind: 'summarize',
  args: () => ({ summary: z.string() }),
  message: (args) => args.summary,
});

/** The model forgets the listed ids or the range; the log keeps everything. */
export const CondensationAction = defineAction({
  kind: 'condensation',
  args: () => ({
    forgotten_event_ids: z.array(z.number().int()).nullable().default(null),
    forgotten_events_start_id: z.number().int().nullable().default(null),
    forgotten_events_end_id: z.number().int().nullable().default(null),
    summary: z.string().nullable().default(null),
    summary_offset: z.number().int().nullable().default(null),
    /** Old results of tools, up to this id, and all pictures in results but the newest are no longer shown; nothing else is forgotten. */
    cleared_until: z.number().int().optional(),
    /** Estimates of what the model was shown, for people. */
    tokens_before: z.number().int().optional(),
    tokens_after: z.number().int().optional(),
    /** Id of the condensation whose summary this one takes the place of. */
    edits: z.number().int().optional(),
    /** Id of the condensation that no longer counts: the model is shown again what it left out. */
    undoes: z.number().int().optional(),
  }),
  message(args) {
    if (args.undoes !== undefined) return 'The model is shown again what a condensation left out.';
    if (args.cleared_until !== undefined) return 'Old results of tools were dropped from the model’s view.';
    return args.summary ? `Summary: ${args.summary}` : 'Part of the history was dropped from the model’s view.';
  },
});

export const CondensationRequestAction = defineAction({
  kind: 'condensation_request',
  args: () => ({}),
  message: () => 'Requesting a condensation of the conversation history.',
});

const taskItem = z.looseObject({ id: z.string(), title: z.string(), status: z.string().default('todo'), notes: z.string().default('') });

export const TaskTrackingAction = defineAction({
  kind: 'task_tracking',
  args: () => ({ command: z.string().default('view'), task_list: z.array(taskItem).default([]), thought }),
  traits: { answeredBy: 'core' },
  message: ({ task_list: { length } }) =>
    length === 0 ? 'Clearing the task list.' : `Managing ${length} task ${length === 1 ? 'item' : 'items'}.`,
});

/** `option` 1: from before the loop, 2: from the user's last message, 3: stop. */
export const LoopRecoveryAction = defineAction({
  kind: 'loop_recovery',
  args: () => ({ option: z.number().int().default(1) }),
  message: () => '',
});

/** Tasks of the first protocol's plan. */
export const AddTaskAction = defineAction({
  kind: 'add_task',
  args: () => ({ parent: z.string(), goal: z.string(), subtasks: z.array(z.unknown()).default([]), thought }),
  message: (args) => `Added task: ${args.goal}`,
});

export const ModifyTaskAction = defineAction({
  kind: 'modify_task',
  args: () => ({ id: z.coerce.string(), state: z.string(), thought }),
  message: (args) => `Set task ${args.id} to ${args.state}`,
});

export const AgentStateChangedObservation = defineObservation({
  kind: 'agent_state_changed',
  extras: () => ({
    agent_state: agentState,
    /** Only with `error` (what went wrong) and `rate_limited` (why, and until when). */
    reason: z.string().default(''),
    /** With `rate_limited`: when the next attempt is made, UTC ISO 8601. */
    resumes_at: z.string().optional(),
  }),
  message: () => '',
});

export const ThinkObservation = defineObservation({ kind: 'think', extras: () => ({}), message: (_extras, content) => content });
export const CondenseObservation = defineObservation({ kind: 'condense', extras: () => ({}), message: (_extras, content) => content });
export const DelegateObservation = defineObservation({ kind: 'delegate', extras: () => ({ outputs }), message: () => '' });

const knowledge = z.looseObject({ name: z.string(), trigger: z.string().default(''), content: z.string().default('') });

export const RecallObservation = defineObservation({
  kind: 'recall',
  extras: () => ({
    recall_type: recallType.default('knowledge'),
    repo_name: z.string().default(''),
    repo_directory: z.string().default(''),
    repo_branch: z.string().default(''),
    repo_instructions: z.string().default(''),
    runtime_hosts: z.record(z.string(), z.unknown()).default({}),
    additional_agent_instructions: z.string().default(''),
    date: z.string().default(''),
    custom_secrets_descriptions: z.record(z.string(), z.string()).default({}),
    conversation_instructions: z.string().default(''),
    working_dir: z.string().default(''),
    microagent_knowledge: z.array(knowledge).default([]),
    /** Why the files of the workspace could not be read; the recall of the next message delivers their content. */
    missing: z.string().optional(),
    /** What was asked for; the `recall` of the README has it. */
    query: z.string().optional(),
    /** What is remembered for later conversations changed: the file, in the server's home, in which a person can correct it. */
    note: z.object({ about: noteAbout, file: z.string() }).optional(),
  }),
  message: (extras) =>
    extras.recall_type === 'workspace_context' || extras.recall_type === 'environment_info'
      ? 'Added workspace context'
      : 'Added microagent knowledge',
});

export const TaskTrackingObservation = defineObservation({
  kind: 'task_tracking',
  extras: () => ({ command: z.string().default('view'), task_list: z.array(taskItem).default([]) }),
  message: (_extras, content) => content,
});

/** `hint`: the agent was given a hint and goes on; without it, it was halted and `loop_recovery` has it go on. */
export const LoopDetectionObservation = defineObservation({
  kind: 'loop_detection',
  extras: () => ({ hint: z.boolean().optional() }),
  message: () => '',
});
