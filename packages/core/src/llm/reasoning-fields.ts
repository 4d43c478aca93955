/**
 * What OpenAI-compatible endpoints send of a model's thoughts in other fields than `reasoning_content`: each wants it back where it came.
 * - `reasoning`: Ollama, newer vLLM.
 * - `reasoning_details`: OpenRouter and gateways like it. Texts come in pieces, a signature with the last of them, and the whole list goes
 *   back as it came, in order.
 */
import type { MetadataExtractor } from '@ai-sdk/openai-compatible';
import type { SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { ProviderMetadata } from '@tendon/protocol';

/** The name under which the package passes it on, at the end of an answer. */
export const REASONING_FIELDS = 'reasoningFields';

type Detail = Readonly<Record<string, unknown>>;

export const reasoningFields: MetadataExtractor = {
  extractMetadata: async () => undefined, // of answers that are not streamed: none
  createStreamExtractor() {
    const details: Detail[] = [];
    let field: 'reasoning' | 'reasoning_content' | undefined;
    return {
      processChunk(chunk) {
        const delta = deltaOf(chunk);
        for (const detail of Array.isArray(delta?.reasoning_details) ? delta.reasoning_details : []) addDetail(details, detail);
        if (typeof delta?.reasoning_content === 'string') field = 'reasoning_content';
        else if (typeof delta?.reasoning === 'string' && delta.reasoning !== '') field ??= 'reasoning';
      },
      buildMetadata() {
        if (details.length > 0) return { [REASONING_FIELDS]: { details: details as never } };
        return field === 'reasoning' ? { [REASONING_FIELDS]: { field } } : undefined;
      },
    };
  },
};

/** What stands on the answer in place of `reasoning_content`; undefined where that is the field. */
export function fieldsOf(text: string, metadata: ProviderMetadata | undefined): SharedV4ProviderOptions | undefined {
  const { details, field } = metadata?.[REASONING_FIELDS] ?? {};
  if (Array.isArray(details)) return { openaiCompatible: { reasoning_details: details as never } };
  return field === 'reasoning' ? { openaiCompatible: { reasoning: text } } : undefined;
}

/** Pieces of one text are one detail; what is encrypted comes whole. */
function addDetail(details: Detail[], piece: unknown): void {
  if (!isFields(piece)) return;
  const last = details.at(-1);
  const name = piece.type === 'reasoning.text' ? 'text' : piece.type === 'reasoning.summary' ? 'summary' : undefined;
  if (!name || last?.type !== piece.type || last?.index !== piece.index) return void details.push(piece);
  const given = Object.fromEntries(Object.entries(piece).filter(([, value]) => value !== null && value !== undefined));
  details[details.length - 1] = { ...last, ...given, [name]: textOf(last?.[name]) + textOf(piece[name]) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function deltaOf(chunk: unknown): Detail | undefined {
  const [choice] = isFields(chunk) && Array.isArray(chunk.choices) ? (chunk.choices as readonly unknown[]) : [];
  return isFields(choice) && isFields(choice.delta) ? choice.delta : undefined;
}

function isFields(value: unknown): value is Detail {
  return typeof value === 'object' && value !== null;
}
