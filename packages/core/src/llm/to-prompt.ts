import { createHash } from 'node:crypto';
import type {
  LanguageModelV4FilePart,
  LanguageModelV4Prompt,
  LanguageModelV4ReasoningPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { NO_REASONING, NO_SIGNATURE, type ReasoningReplay } from './reasoning-replay.ts';
import type { ProviderMetadata, ReasoningPart } from '@tendon/protocol';
import { fieldsOf } from './reasoning-fields.ts';
import type { RequestRules } from './model-name.ts';
import type { LlmMessage, LlmToolCall } from './llm-provider.ts';

/** How one model is asked. */
export interface PromptShape extends ReasoningReplay {
  readonly rules: RequestRules;
}

type PromptMessage = LanguageModelV4Prompt[number];
type AssistantMessage = Extract<LlmMessage, { role: 'assistant' }>;

/** Its address, where only that may be sent. */
type Picture = LanguageModelV4FilePart | LanguageModelV4TextPart;

/** What one message is in a prompt. */
interface PromptParts {
  readonly role: LlmMessage['role'];
  readonly parts: readonly PromptMessage[];
  /** Of a tool's result. */
  readonly pictures: readonly Picture[];
}

/**
 * Our messages in the shape of the provider packages, legal for each of them: no empty texts, arguments as objects,
 * ids of the alphabet that every provider takes, and pictures of tool results in a message of their own after the results.
 * A message that was in an earlier request is not made again: of a long conversation, most were.
 */
export function createToPrompt(shape: PromptShape): (messages: readonly LlmMessage[]) => LanguageModelV4Prompt {
  let before: readonly LlmMessage[] = [];
  let made: readonly PromptParts[] = [];
  return (messages) => {
    made = messages.map((message, index) => (message === before[index] ? made[index]! : toPromptParts(message, shape)));
    before = messages;
    const prompt: PromptMessage[] = [];
    let shown: Picture[] = [];
    for (const { role, parts, pictures } of made) {
      if (role !== 'tool' && shown.length > 0) {
        prompt.push(showing(shown));
        shown = [];
      }
      shown.push(...pictures);
      prompt.push(...parts);
    }
    if (shown.length > 0) prompt.push(showing(shown));
    return withCacheMarks(shape.rules === 'mistral' ? withBridges(prompt) : prompt, shape);
  };
}

function toPromptParts(message: LlmMessage, shape: PromptShape): PromptParts {
  const pictures = message.role === 'tool' ? (message.imageUrls ?? []).flatMap((url) => toPicture(url, shape.rules)) : [];
  return { role: message.role, parts: toPromptMessages(message, shape), pictures };
}

/** The same parts in each request: what is repeated is found by them. */
const SHOWING = { type: 'text', text: 'The tool results above show:' } as const;
const BRIDGE: PromptMessage = { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] };

function showing(pictures: readonly Picture[]): PromptMessage {
  return { role: 'user', content: [SHOWING, ...pictures] };
}

function toPromptMessages(message: LlmMessage, shape: PromptShape): PromptMessage[] {
  switch (message.role) {
    case 'system':
      return message.text === '' ? [] : [{ role: 'system', content: message.text }];
    case 'user': {
      const files = (message.imageUrls ?? []).flatMap((url) => toPicture(url, shape.rules));
      return [{ role: 'user', content: [{ type: 'text', text: message.text || (files.length > 0 ? '(an image)' : '(empty)') }, ...files] }];
    }
    case 'assistant': {
      const content = answerParts(message, shape);
      return content.every(({ type }) => type === 'reasoning') ? [] : [toAnswer(content)];
    }
    case 'tool': {
      const output = { type: 'text' as const, value: message.text || '(no output)' };
      return [
        {
          role: 'tool',
          content: [{ type: 'tool-result', toolCallId: legalId(message.toolCallId, shape.rules), toolName: message.toolName, output }],
        },
      ];
    }
  }
}

/** With what the model thought in the field in which the endpoint sent it. */
function toAnswer(content: AnswerPart[]): PromptMessage {
  const thoughts = content.filter((part) => part.type === 'reasoning');
  const text = thoughts.map((part) => part.text).join('');
  const providerOptions = thoughts.map((part) => fieldsOf(text, part.providerOptions as ProviderMetadata | undefined)).find(Boolean);
  if (!providerOptions) return { role: 'assistant', content };
  return { role: 'assistant', content: content.filter(({ type }) => type !== 'reasoning'), providerOptions };
}

/** An answer between a result and a word of the user. */
function withBridges(prompt: readonly PromptMessage[]): PromptMessage[] {
  return prompt.flatMap((message, index) =>
    message.role === 'user' && prompt[index - 1]?.role === 'tool' ? [BRIDGE, message] : [message],
  );
}

type AnswerPart = LanguageModelV4TextPart | LanguageModelV4ReasoningPart | LanguageModelV4ToolCallPart;

/** Text, calls and reasoning in the order in which they came. Reasoning of another model is left out, and what led to nothing more: no answer may end with it. */
function answerParts({ text, toolCalls = [], reasoning }: AssistantMessage, { model, style, rules }: PromptShape): AnswerPart[] {
  const isOwn = reasoning?.model === model && style !== 'none';
  const thoughts = isOwn && style !== 'signed-calls' ? reasoning.parts : [];
  const at = (place: number): LanguageModelV4ReasoningPart[] => thoughts.filter((part) => part.at === place).map(toReasoningPart);
  const texts = text.trim() === '' ? [] : [{ type: 'text' as const, text }];
  const calls = toolCalls.flatMap((call, index) => [...at(index + 1), toCallPart(call, isOwn, rules)]);
  const parts = [...at(0), ...texts, ...calls];
  if (calls.length === 0) return parts;
  if (style === 'text-with-calls' && !parts.some((part) => part.type === 'reasoning' && part.text !== ''))
    return [{ type: 'reasoning', text: NO_REASONING }, ...parts];
  return style === 'signed-calls' ? withSignature(parts) : parts;
}

/** Gemini signs the first call of an answer, for all of them. */
function withSignature(parts: readonly AnswerPart[]): AnswerPart[] {
  const first = parts.findIndex(({ type }) => type === 'tool-call');
  const providerOptions = { google: { thoughtSignature: NO_SIGNATURE } };
  return parts.map((part, index) => (index === first && !part.providerOptions ? { ...part, providerOptions } : part));
}

function toReasoningPart({ text, metadata }: ReasoningPart): LanguageModelV4ReasoningPart {
  return { type: 'reasoning', text, ...(metadata && { providerOptions: metadata as SharedV4ProviderOptions }) };
}

function toCallPart(
  { id, name, arguments: args, metadata }: LlmToolCall,
  isOwn: boolean,
  rules: RequestRules,
): LanguageModelV4ToolCallPart {
  const providerOptions = isOwn ? (metadata as SharedV4ProviderOptions | undefined) : undefined;
  return {
    type: 'tool-call',
    toolCallId: legalId(id, rules),
    toolName: name,
    input: toObject(args),
    ...(providerOptions && { providerOptions }),
  };
}

/** A conversation may change its model: the id that one gave is another's to refuse. The same id always becomes the same. */
function legalId(id: string, rules: RequestRules): string {
  if (rules === 'mistral') return /^[a-zA-Z0-9]{9}$/.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9);
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
function toPicture(url: string, rules: RequestRules): Picture[] {
  const data = DATA_URL.exec(url);
  if (data) return [{ type: 'file', mediaType: data[1]!, data: { type: 'data', data: data[2]! } }];
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return [];
  return rules === 'inline' || rules === 'bedrock'
    ? [{ type: 'text', text: `(a picture at ${parsed.href})` }]
    : [{ type: 'file', mediaType: typeOf(parsed), data: { type: 'url', url: parsed } }];
}

/** By its name: Gemini wants to know before it looks. */
function typeOf({ pathname }: URL): string {
  const [, ending = 'jpeg'] = /\.(png|gif|webp)$/i.exec(pathname) ?? [];
  return `image/${ending.toLowerCase()}`;
}

const MARK = { anthropic: { cacheControl: { type: 'ephemeral' } } };
const BEDROCK_MARK = { bedrock: { cachePoint: { type: 'default' } } };
/** Those of Bedrock whose requests may be marked. */
const HAS_CACHE = /anthropic\.claude|amazon\.nova/;

/**
 * Anthropic keeps what stands before a mark in its cache. Marks: the system prompt (with the tools before it), and the last two
 * messages that are not the model's, so that the next request finds the mark that this one wrote. Others ignore the option.
 */
function withCacheMarks(prompt: PromptMessage[], { model, rules }: PromptShape): LanguageModelV4Prompt {
  const last = prompt.findLastIndex(isInput);
  const before = prompt.findLastIndex((message, index) => index < last && isInput(message));
  const system = prompt.findIndex(({ role }) => role === 'system');
  const providerOptions = rules === 'bedrock' ? (HAS_CACHE.test(model) ? BEDROCK_MARK : undefined) : MARK;
  if (!providerOptions) return prompt;
  for (const index of [system, before, last]) if (index !== -1) prompt[index] = { ...prompt[index]!, providerOptions };
  return prompt;
}

function isInput({ role }: PromptMessage): boolean {
  return role === 'user' || role === 'tool';
}
