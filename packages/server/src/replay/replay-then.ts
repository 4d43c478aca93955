/**
 * Asks a recording first and the model afterwards. Owns nothing: where the recording stands is read from the log, so a server that
 * was killed goes on there, and no recorded action is done twice.
 */
import type { EventLog, LlmProvider } from '@tendon/core';
import { isAction, isUnknown, type Event } from '@tendon/protocol';
import type { ReplayAnswer } from './read-trajectory.ts';

const PAGE = 100;
const ID = /^replay-(\d+)$/;

/** To be asked before each answer, like the model it stands before. */
export function replayThen(answers: readonly ReplayAnswer[], log: EventLog, next: () => Promise<LlmProvider>): () => Promise<LlmProvider> {
  let isOver = answers.length === 0;
  return async () => {
    const position = isOver ? answers.length : await replayPosition(log);
    isOver = position >= answers.length;
    return isOver ? next() : oneAnswer(answers[position]!, position);
  };
}

/** How many answers of the recording are in the log; all of them once somebody else has answered. */
async function replayPosition(log: EventLog): Promise<number> {
  for (let to = log.nextId; to > 0; to -= PAGE) {
    for (const event of await log.read({ from: Math.max(0, to - PAGE), to, reverse: true })) {
      const id = answerIdOf(event);
      if (id !== undefined) return Number(ID.exec(id)?.[1] ?? Infinity) + 1;
    }
  }
  return 0;
}

/** Words alone carry no id; a recording has them only at its end. */
function answerIdOf(event: Event): string | undefined {
  if (isUnknown(event)) return undefined;
  if (event.tool_call_metadata) return String(event.tool_call_metadata.model_response?.id);
  return isAction(event) && event.action === 'message' && event.source === 'agent' ? 'words' : undefined;
}

function oneAnswer({ text, call }: ReplayAnswer, position: number): LlmProvider {
  const id = `replay-${position}`;
  return {
    model: 'replay',
    contextWindow: undefined,
    scripted: true,
    async *stream() {
      const toolCalls = call ? [{ id, name: call.name, arguments: JSON.stringify(call.arguments) }] : [];
      const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
      const finishReason = call ? ('tool_calls' as const) : ('stop' as const);
      yield { type: 'done', answer: { id, model: 'replay', text, toolCalls, finishReason, usage, costUsd: 0, latencyMs: 0 } };
    },
  };
}
