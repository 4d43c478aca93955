import type { LlmMessage, LlmRequest, LlmToolCall, LlmToolSpec } from '../llm-provider.ts';

/**
 * The same request for a model that knows no tools: they are described in the system prompt, calls stand in the text of the answers, and
 * results are messages of the user. Neighbours of one role become one message, because some models' templates take turns only.
 */
export function renderRequest({ messages, tools }: LlmRequest): LlmRequest {
  const [first, ...rest] = messages;
  const isSystem = first?.role === 'system';
  const system = { role: 'system', text: [isSystem ? first.text : '', describe(tools)].filter(Boolean).join('\n\n') } as const;
  return { messages: merged([system, ...(isSystem ? rest : messages).map(renderMessage)]), tools: [] };
}

type Shown = Exclude<LlmMessage, { role: 'tool' }>;

function renderMessage(message: LlmMessage): Shown {
  if (message.role === 'tool') {
    const { toolName, text, imageUrls } = message;
    return { role: 'user', text: `EXECUTION RESULT of [${toolName}]:\n${text || '(no output)'}`, ...(imageUrls && { imageUrls }) };
  }
  if (message.role !== 'assistant') return message;
  const { toolCalls = [], ...rest } = message;
  // What came with a call belongs to a call that the endpoint never saw; reasoning stands before all of them.
  const reasoning = rest.reasoning && { ...rest.reasoning, parts: rest.reasoning.parts.map((part) => ({ ...part, at: 0 })) };
  const text = [rest.text, ...toolCalls.map(renderCall)].filter(Boolean).join('\n\n');
  return { role: 'assistant', text, ...(reasoning && { reasoning }) };
}

function merged(messages: readonly Shown[]): LlmMessage[] {
  const result: Shown[] = [];
  for (const message of messages) {
    const last = result.at(-1);
    if (!last || last.role !== message.role) result.push(message);
    else result[result.length - 1] = joined(last, message);
  }
  return result;
}

function joined(a: Shown, b: Shown): Shown {
  const text = [a.text, b.text].filter(Boolean).join('\n\n');
  if (a.role === 'user' && b.role === 'user') return { role: 'user', text, imageUrls: [...(a.imageUrls ?? []), ...(b.imageUrls ?? [])] };
  return { ...a, ...b, text } as Shown;
}

/** As the model is asked to write it. @internal */
export function renderCall({ name, arguments: args }: Pick<LlmToolCall, 'name' | 'arguments'>): string {
  const given = objectOf(args);
  const parameters = given
    ? Object.entries(given).map(
        ([key, value]) => `<parameter=${key}>${inLines(typeof value === 'string' ? value : JSON.stringify(value))}</parameter>`,
      )
    : [args];
  return [`<function=${name}>`, ...parameters, '</function>'].join('\n');
}

function inLines(value: string): string {
  return value.includes('\n') ? `\n${value}\n` : value;
}

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text || '{}');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const FORM = `# How to call tools
You call a tool by writing the call into your answer, in this form:

<function=name_of_the_tool>
<parameter=name_of_a_parameter>its value</parameter>
<parameter=name_of_another>
a value of
several lines
</parameter>
</function>

- A call begins on a line of its own. Write values as they are, without quotes and without escapes; lists and objects as JSON.
- Several calls may follow one another; they are carried out in this order. End the answer after the last one.
- The results are in the next message, each under "EXECUTION RESULT of [name_of_the_tool]:". Wait for them, and never write them yourself.
- To show the form without calling anything, put it into a block of code.

# The tools`;

function describe(tools: readonly LlmToolSpec[]): string {
  return tools.length === 0 ? '' : [FORM, ...tools.map(describeTool)].join('\n\n');
}

function describeTool({ name, description, parameters }: LlmToolSpec): string {
  const properties = Object.entries((parameters.properties ?? {}) as Readonly<Record<string, Schema>>);
  const required = new Set((parameters.required ?? []) as readonly string[]);
  const lines = properties.map(([key, schema]) => `- ${key} (${typeOf(schema)}${required.has(key) ? '' : ', optional'})${meaning(schema)}`);
  return [`## ${name}`, description, lines.length > 0 ? `Parameters:\n${lines.join('\n')}` : 'It takes no parameters.']
    .filter(Boolean)
    .join('\n');
}

type Schema = Readonly<Record<string, unknown>>;

function meaning({ description }: Schema): string {
  return typeof description === 'string' && description !== '' ? `: ${description}` : '';
}

/** What is more than a word is given as it is. */
function typeOf(schema: Schema): string {
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.map((value) => JSON.stringify(value)).join(', ')}`;
  const isSimple = typeof schema.type === 'string' && schema.properties === undefined && schema.items === undefined;
  if (isSimple) return schema.type as string;
  const { description: _shown, ...rest } = schema;
  return Object.keys(rest).length === 0 ? 'any value' : `JSON of the schema ${JSON.stringify(rest)}`;
}
