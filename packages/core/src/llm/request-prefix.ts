/**
 * The messages that every request of a conversation repeats, as the JSON that the provider package made of them once. A request is made of
 * what came since; a message that stands for the others is replaced by their JSON when it is sent.
 *
 * Invariants
 * REQ1  What is sent is, byte for byte, what the package writes when it is given all messages.
 * REQ2  The message that stands for others leaves this process in no request: one in which it is not found fails with `NotReplaced`.
 * REQ3  A step costs what it adds: a message is converted and written when it is new, and when it is put to the others.
 */
import { randomUUID } from 'node:crypto';
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';

type PromptMessage = LanguageModelV4Prompt[number];
/** Imports the package and makes the model, which sends by `fetch`. */
export type LoadModel = (fetch: typeof globalThis.fetch) => Promise<LanguageModelV4>;

/** So many messages are put to the others at once. */
const CHUNK = 64;

/** The package wrote the message that stands for others in a way that it does not write it alone. */
export class NotReplaced extends Error {}

/** The model that is asked, and what its package is given. */
interface ShortRequest {
  readonly language: LanguageModelV4;
  readonly options: LanguageModelV4CallOptions;
}

interface Repeated {
  /** After the system prompt. */
  readonly messages: readonly PromptMessage[];
  /** The same without the brackets of a list. */
  readonly json: Buffer;
  readonly standIn: PromptMessage;
  readonly language: LanguageModelV4;
}

/** Of one conversation, as one API of one endpoint wants it. */
export class RequestPrefix {
  readonly #load: LoadModel;
  readonly #send: typeof fetch;
  #before: LanguageModelV4Prompt = [];
  #repeated: Repeated | undefined;
  #whole: LanguageModelV4 | undefined;
  #isWhole: boolean;

  /** `isWhole`: nothing may be replaced in what the package sends. */
  constructor(load: LoadModel, send: typeof fetch, { isWhole = false } = {}) {
    this.#load = load;
    this.#send = send;
    this.#isWhole = isWhole;
  }

  async shorten(options: LanguageModelV4CallOptions): Promise<ShortRequest> {
    const { prompt } = options;
    const repeated = this.#isWhole ? undefined : await this.#extended(options);
    this.#repeated = repeated;
    this.#before = prompt;
    if (!repeated) return { language: (this.#whole ??= await this.#load(this.#send)), options };
    const start = startOf(prompt);
    const rest = prompt.slice(start + repeated.messages.length);
    return { language: repeated.language, options: { ...options, prompt: [...prompt.slice(0, start), repeated.standIn, ...rest] } };
  }

  /** From now on every request is made whole. */
  giveUp(): void {
    this.#isWhole = true;
  }

  /** With what this request and the one before have in common, once that is enough. */
  async #extended(options: LanguageModelV4CallOptions): Promise<Repeated | undefined> {
    const { prompt } = options;
    const start = startOf(prompt);
    const common = prompt.findIndex((message, index) => index >= start && !isSame(message, this.#before[index]));
    const settled = startOf(this.#before) !== start ? 0 : common === -1 ? prompt.length : common;
    const repeated = this.#repeated && start + this.#repeated.messages.length <= settled ? this.#repeated : undefined;
    const from = start + (repeated?.messages.length ?? 0);
    // Only between the sides: neighbours of one side can become one message.
    const isAnswer = (index: number): boolean => prompt[index]?.role === 'assistant';
    const end = prompt.findLastIndex((_, index) => index < settled && isAnswer(index) && !isAnswer(index - 1));
    if (end - from < CHUNK) return repeated;
    const standIn: PromptMessage = { role: 'user', content: [{ type: 'text', text: `earlier messages ${randomUUID()}` }] };
    // Of a request without tools, Bedrock's package leaves calls and results out.
    const { reasoning, maxOutputTokens, providerOptions, tools } = options;
    const alone = { reasoning, maxOutputTokens, providerOptions, ...(tools && { tools }) };
    const written = await Promise.all([prompt.slice(from, end), [standIn]].map((part) => this.#write({ ...alone, prompt: part })));
    const [added, place] = written;
    if (!added || !place) return void this.giveUp();
    const json = repeated ? Buffer.concat([repeated.json, Buffer.from(`,${added}`)]) : Buffer.from(added);
    const language = await this.#load(replacing(place, json, this.#send));
    return { messages: prompt.slice(start, end), json, standIn, language };
  }

  /** What the package makes of these messages alone. */
  async #write(options: LanguageModelV4CallOptions): Promise<string | undefined> {
    let body: unknown;
    const language = await this.#load(async (_url, init) => {
      body = init?.body;
      throw new Error('this request is not sent');
    });
    await Promise.resolve(language.doStream(options)).catch(() => undefined);
    if (typeof body !== 'string') return undefined;
    const { messages, input, contents } = JSON.parse(body) as { readonly [list in 'messages' | 'input' | 'contents']?: unknown };
    const list = messages ?? input ?? contents;
    return Array.isArray(list) && list.length > 0 ? JSON.stringify(list).slice(1, -1) : undefined;
  }
}

function startOf(prompt: LanguageModelV4Prompt): number {
  return prompt[0]?.role === 'system' ? 1 : 0;
}

/** Pictures of results stand in a message that is made anew for each request, of the same parts. */
function isSame(message: PromptMessage, before: PromptMessage | undefined): boolean {
  if (message === before) return true;
  if (message.role !== 'user' || before?.role !== 'user' || message.providerOptions || before.providerOptions) return false;
  const { content } = message;
  return content.length === before.content.length && content.every((part, index) => part === before.content[index]);
}

function replacing(place: string, json: Buffer, send: typeof fetch): typeof fetch {
  return (url, init) => {
    const body = typeof init?.body === 'string' ? init.body : '';
    const at = body.indexOf(place);
    if (at === -1) throw new NotReplaced();
    const [head, tail] = [Buffer.from(body.slice(0, at)), Buffer.from(body.slice(at + place.length))];
    return send(url, { ...init, body: Buffer.concat([head, json, tail]) });
  };
}
