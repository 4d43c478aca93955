import type { Action, ObservationDraft } from '@tendon/protocol';
import { unlessAborted } from '@tendon/protocol/async';
import type { Tool } from '../tools/define-tool.ts';
import { useSkill } from '../tools/use-skill.ts';
import type { ActionPorts, LogPorts, LoopPorts } from './ports.ts';
import { awaitsConfirmation } from './next-step.ts';
import { askUserDuring } from './ask-user-during.ts';
import { notice, outcomeUnknown } from './notices.ts';
import type { AskUser } from './host-capabilities.ts';

/** What the model is offered now. What tools of others change cannot be seen: an agent that only reads has none of them. */
export async function offeredTools(
  { agent, library, external }: Pick<LoopPorts, 'agent' | 'library' | 'external'>,
  signal: AbortSignal,
): Promise<readonly Tool[]> {
  const { tools, isReadOnly } = agent();
  const hasSkills = library.known.microagents.some(({ skill }) => skill !== undefined);
  const own = hasSkills ? [...tools, useSkill] : tools;
  if (!external || isReadOnly) return own;
  const names = new Set(own.map(({ spec }) => spec.name));
  return [...own, ...(await external.offered({ signal })).filter(({ spec }) => !names.has(spec.name))];
}

export const callUnknown = outcomeUnknown('it may have been made before, and its outcome was not stored');

/** By this process or one before it. */
export function wasCalledExternally({ dispatched }: Pick<ActionPorts, 'dispatched'>, action: Action): boolean {
  return action.action === 'call_tool_mcp' && dispatched.has(action.id) && !awaitsConfirmation(action);
}

/**
 * The observation; nothing when this process is shutting down. A call that may have been made, by an earlier process or by this one before
 * its storage failed, is not made again.
 */
export async function calledExternally(
  ports: Pick<ActionPorts, 'external' | 'dispatched' | 'aborts'> & Pick<LogPorts, 'log' | 'folded'>,
  action: Action<'call_tool_mcp'>,
): Promise<ObservationDraft | undefined> {
  if (!ports.external) return notice.unavailable;
  if (wasCalledExternally(ports, action)) return callUnknown;
  ports.dispatched.set(action.id, undefined);
  const { signal, end } = ports.aborts.beginAction();
  try {
    const ask: AskUser = (question, limit) => askUserDuring(ports, action, question, AbortSignal.any([signal, limit]));
    return await unlessAborted(ports.external.call(action, { signal, ask }), ports.aborts.closing);
  } finally {
    end();
  }
}
