import type { LlmToolCall } from '../llm/llm-provider.ts';
import type { Tool, ToolCallResult } from './define-tool.ts';

/** Turns one call of the model into an action. Total: whatever the model wrote, the result is an action or a sentence for it. */
export function parseToolCall(call: LlmToolCall, tools: readonly Tool[]): ToolCallResult {
  const tool = tools.find(({ spec }) => spec.name === call.name);
  if (!tool) {
    const names = tools.map(({ spec }) => spec.name).join(', ');
    return { ok: false, error: `There is no tool "${call.name}". The available tools are: ${names}.` };
  }
  const args = parseObject(call.arguments);
  return args
    ? tool.toAction(args)
    : {
        ok: false,
        error: `The call of ${call.name} was not carried out: its arguments are not a JSON object. Send the call again, complete.`,
      };
}

/** `undefined` for anything but the JSON of an object; an empty text is a call without arguments. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text.trim() === '' ? '{}' : text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
