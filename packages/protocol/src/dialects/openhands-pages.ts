import { isAction, isUnknown, type Action, type LlmMetrics, type Observation } from '../event.ts';
import type { Dialect, Frame } from './dialect.ts';
import { terminalLines, withPictures } from './cell-pictures.ts';
import { openhandsV0 } from './openhands-v0.ts';

/**
 * The dialect of an OpenHands page, by the query of its socket: 0.18 … 0.32 send a conversation and a cursor only, 0.33 … 0.39
 * the providers too, 0.40 and later a key, which may be the word `null`.
 */
export function dialectOfPage(query: Readonly<Record<string, unknown>>): Dialect {
  if (query.providers_set === undefined) return openhandsV0Early;
  return query.session_api_key === undefined ? openhandsV0Middle : openhandsV0Late;
}

/**
 * Pages of OpenHands 0.33 … 0.39: they look for the pictures of a cell in its content, and do not know `image_urls`.
 * @internal
 */
export const openhandsV0Middle: Dialect = {
  ...openhandsV0,
  encode(event, phase) {
    const frames = openhandsV0.encode(event, phase);
    return isUnknown(event) || !('observation' in event) || event.observation !== 'run_ipython' ? frames : frames.map(picturesInside);
  },
};

function picturesInside(frame: Frame): Frame {
  const extras = frame.extras as Frame;
  const content = withPictures(String(frame.content), extras.image_urls as readonly string[] | null);
  return content === frame.content ? frame : { ...frame, content, extras: { ...extras, image_urls: null } };
}

/**
 * Pages of OpenHands 0.18 … 0.32, which also have the limits of the following releases: of the agent's actions those before 0.28 show the
 * `thought` and nothing else, and they put the message of every unknown observation into the chat.
 */
export const openhandsV0Early: Dialect = {
  ...openhandsV0Middle,
  encode(event, phase) {
    const frames = openhandsV0Middle.encode(event, phase);
    if (isUnknown(event)) return frames;
    return saysNothing(event) ? [] : frames.map(asEarly);
  },
};

function asEarly(frame: Frame): Frame {
  if (frame.action === 'finish') return { ...frame, args: sayingOnce(frame.args as Frame) };
  if (frame.observation !== 'run') return frame;
  return { ...frame, content: terminalLines(String(frame.content)) };
}

/** The last words as the thought. Frontends of 0.28 and later would show them twice. */
function sayingOnce(args: Frame): Frame {
  return { ...args, thought: args.thought || args.final_thought, final_thought: '' };
}

/**
 * The acknowledgement of a thought, and a recall that found nothing. A recall's content is shown from 0.29 on, and these
 * frontends cannot be distinguished from older ones.
 */
function saysNothing(event: Action | Observation): boolean {
  if (!('observation' in event)) return false;
  if (event.observation === 'think') return true;
  if (event.observation !== 'recall' || event.extras.recall_type !== 'workspace_context') return false;
  const { repo_name, repo_directory, repo_instructions, runtime_hosts, additional_agent_instructions, microagent_knowledge } = event.extras;
  const texts = [repo_name, repo_directory, repo_instructions, additional_agent_instructions];
  return texts.every((text) => text === '') && Object.keys(runtime_hosts).length === 0 && microagent_knowledge.length === 0;
}

/** The values of `task_completed` in 0.40 … 0.51. They show anything else as "completed partially"; later releases do not read it. */
const WORDS: Readonly<Record<string, string>> = { true: 'success', false: 'failure', partial: 'partial' };

/** The context window where none is known. These pages show the used share of it, and would divide by zero. */
const NO_WINDOW = 1_000_000_000;

/**
 * Pages of OpenHands 0.40 … 0.62. An agent that finishes without a value has completed its task.
 * @internal
 */
export const openhandsV0Late: Dialect = {
  ...openhandsV0,
  encode(event, phase) {
    const frames = openhandsV0.encode(event, phase);
    if (isUnknown(event) || !isAction(event)) return frames;
    const shown = frames.map(withWindow);
    if (event.action !== 'finish') return shown;
    const task_completed = WORDS[event.args.task_completed ?? 'true'];
    return shown.map((frame) => ({ ...frame, args: { ...(frame.args as Frame), task_completed } }));
  },
};

function withWindow(frame: Frame): Frame {
  const metrics = frame.llm_metrics as Partial<LlmMetrics> | undefined;
  const usage = metrics?.accumulated_token_usage;
  if (usage?.context_window !== 0) return frame;
  return { ...frame, llm_metrics: { ...metrics, accumulated_token_usage: { ...usage, context_window: NO_WINDOW } } };
}
