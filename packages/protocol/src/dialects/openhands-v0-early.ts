import { isUnknown, type Action, type Observation } from '../event.ts';
import type { Dialect, Frame } from './dialect.ts';
import { openhandsV0Middle } from './openhands-v0-middle.ts';
import { terminalLines } from './terminal-lines.ts';

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
