import type { LanguageModelV4FilePart, LanguageModelV4Prompt, LanguageModelV4ToolCallPart } from '@ai-sdk/provider';
import type { LlmMessage, LlmToolCall } from './llm-provider.ts';

type PromptMessage = LanguageModelV4Prompt[number];

/**
 * Our messages in the shape of the provider packages, legal for each of them: no empty texts, arguments as objects,
 * ids of the alphabet that every provider takes, and pictures of tool results in a message of their own after the results.
 */
export function toPrompt(messages: readonly LlmMessage[]): LanguageModelV4Prompt {
  const prompt: PromptMessage[] = [];
  let pictures: LanguageModelV4FilePart[] = [];
  for (const message of messages) {
    if (message.role !== 'tool') {
      if (pictures.length > 0) prompt.push(showing(pictures));
      pictures = [];
    } else {
      pictures.push(...(message.imageUrls ?? []).flatMap(toFilePart));
    }
    prompt.push(...toPromptMessages(message));
  }
  if (pictures.length > 0) prompt.push(showing(pictures));
  return withCacheMarks(prompt);
}

function showing(pictures: readonly LanguageModelV4FilePart[]): PromptMessage {
  return { role: 'user', content: [{ type: 'text', text: 'The tool results above show:' }, ...pictures] };
}

function toPromptMessages(message: LlmMessage): PromptMessage[] {
  switch (message.role) {
    case 'system':
      return message.text === '' ? [] : [{ role: 'system', content: message.text }];
    case 'user': {
      const files = (message.imageUrls ?? []).flatMap(toFilePart);
      return [{ role: 'user', content: [{ type: 'text', text: message.text || (files.length > 0 ? '(an image)' : '(empty)') }, ...files] }];
    }
    case 'assistant': {
      const calls = (message.toolCalls ?? []).map(toCallPart);
      const texts = message.text.trim() === '' ? [] : [{ type: 'text' as const, text: message.text }];
      return calls.length + texts.length === 0 ? [] : [{ role: 'assistant', content: [...texts, ...calls] }];
    }
    case 'tool': {
      const output = { type: 'text' as const, value: message.text || '(no output)' };
      return [
        { role: 'tool', content: [{ type: 'tool-result', toolCallId: legalId(message.toolCallId), toolName: message.toolName, output }] },
      ];
    }
  }
}

function toCallPart(call: LlmToolCall): LanguageModelV4ToolCallPart {
  return { type: 'tool-call', toolCallId: legalId(call.id), toolName: call.name, input: toObject(call.arguments) };
}

/** A conversation may change its provider: Anthropic refuses ids that others give. */
function legalId(id: string): string {
  return id.replaceAll(/[^\w-]/g, '_') || '_';
}

/** Every provider wants an object. What the model wrote wrongly is shown back to it as a text inside one. */
function toObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text || '{}');
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // not JSON: below
  }
  return { malformed_arguments: text };
}

const DATA_URL = /^data:(image\/[\w.+-]+);base64,(.+)$/s;

/** Nothing for an address that cannot be one: a broken picture must not end a conversation. */
function toFilePart(url: string): LanguageModelV4FilePart[] {
  const data = DATA_URL.exec(url);
  if (data) return [{ type: 'file', mediaType: data[1]!, data: { type: 'data', data: data[2]! } }];
  const parsed = URL.parse(url);
  return parsed && /^https?:$/.test(parsed.protocol) ? [{ type: 'file', mediaType: 'image/*', data: { type: 'url', url: parsed } }] : [];
}

/**
 * Anthropic keeps what stands before a mark in its cache. Marks: the system prompt (with the tools before it), and the last two
 * messages that are not the model's, so that the next request finds the mark that this one wrote. Others ignore the option.
 */
function withCacheMarks(prompt: PromptMessage[]): LanguageModelV4Prompt {
  const inputs = prompt.flatMap(({ role }, index) => (role === 'user' || role === 'tool' ? [index] : []));
  const marked = new Set([prompt.findIndex(({ role }) => role === 'system'), ...inputs.slice(-2)]);
  const providerOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } };
  return prompt.map((message, index) => (marked.has(index) ? { ...message, providerOptions } : message));
}
