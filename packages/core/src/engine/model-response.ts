import type { ModelResponse } from '@tendon/protocol';
import type { LlmAnswer } from '../llm/llm-provider.ts';

/** The answer in the chat-completion shape that clients know. `created` in seconds. */
export function toModelResponse(answer: LlmAnswer, created: Date): ModelResponse {
  const { text, toolCalls, usage } = answer;
  return {
    id: answer.id,
    created: Math.floor(created.getTime() / 1000),
    model: answer.model,
    object: 'chat.completion',
    choices: [
      {
        finish_reason: answer.finishReason,
        index: 0,
        message: {
          content: text === '' ? null : text,
          role: 'assistant',
          tool_calls: toolCalls.map(({ id, name, arguments: args }) => ({ id, type: 'function', function: { name, arguments: args } })),
        },
      },
    ],
    usage: {
      prompt_tokens: usage.inputTokens,
      completion_tokens: usage.outputTokens,
      total_tokens: usage.inputTokens + usage.outputTokens,
    },
  };
}
