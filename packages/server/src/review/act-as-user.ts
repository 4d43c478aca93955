import {
  catalogError,
  isActive,
  RunAction,
  type CatalogError,
  type CommandOutcome,
  type Observation,
  type ParsedAction,
} from '@tendon/protocol';
import { outcomeOf } from '../checkpoints/outcome-of.ts';
import type { Caller } from '../platform/auth/caller.ts';
import type { Conversations } from '../conversations/conversations.ts';

type Acting = Pick<Conversations, 'submit' | 'log'>;

const MAX_OUTPUT_CHARS = 4000;

export interface Outcome {
  readonly eventId: number;
  readonly observation: Observation;
}

/** A person's own action: in the log first, after a checkpoint, carried out once, and seen by the agent. */
export async function actAsUser(conversations: Acting, id: string, action: ParsedAction, by?: Caller): Promise<Outcome | CatalogError> {
  const result = await conversations.submit(id, action, { by });
  if (!result.ok) return result.error;
  const log = await conversations.log(id);
  const observation = log && (await outcomeOf(log, result.event.id));
  return observation
    ? { eventId: result.event.id, observation }
    : catalogError('RUNTIME_FAILED', 'it goes on; its result will be in the log');
}

export interface UserCommand {
  readonly command: string;
  readonly cwd: string;
  readonly timeout?: number;
  readonly by?: Caller | undefined;
}

/** A command beside the agent's shell. */
export async function runAsUser(
  conversations: Acting,
  id: string,
  { command, cwd, timeout = 60, by }: UserCommand,
): Promise<CommandOutcome | CatalogError> {
  const action: ParsedAction = { ...RunAction.create({ command, cwd, is_static: true }), timeout };
  const outcome = await actAsUser(conversations, id, action, by);
  if ('code' in outcome) return outcome;
  const { eventId, observation } = outcome;
  if (observation.observation !== 'run')
    return catalogError('RUNTIME_FAILED', 'content' in observation ? observation.content : 'it did not run');
  const { exit_code } = observation.extras.metadata;
  return { event_id: eventId, exit_code, output: observation.content.slice(-MAX_OUTPUT_CHARS) };
}

/** The agent must not change what a person has just seen. */
export function whyBusy(conversations: Pick<Conversations, 'state'>, id: string): CatalogError | undefined {
  const state = conversations.state(id)?.agentState;
  if (state === undefined || !isActive(state)) return undefined;
  return catalogError('ILLEGAL_STATE', 'changes are reverted while the agent rests; pause or stop it first');
}
