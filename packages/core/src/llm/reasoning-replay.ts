/**
 * How an endpoint wants the reasoning of earlier answers back. Only the model that made it gets it.
 * - `as-sent`: what came, in the order in which it came. Anthropic and OpenAI check the signed and encrypted parts and miss none; most
 *   servers of open models read `reasoning_content` and miss none either.
 * - `text-with-calls`: each answer with calls needs a `reasoning_content`, also one that another model gave (DeepSeek, Kimi).
 * - `signed-calls`: no text; the first call of each answer needs a signature, also one that another model made (Gemini).
 * - `none`: a field that the endpoint does not know is refused (Groq, Mistral, Cerebras).
 */
export type ReplayStyle = 'as-sent' | 'text-with-calls' | 'signed-calls' | 'none';

export interface ReasoningReplay {
  readonly model: string;
  readonly style: ReplayStyle;
}

/** Stands for reasoning that there is none of: an empty text counts as a missing one. */
export const NO_REASONING = ' ';

/** Google documents this value for calls that another model made. */
export const NO_SIGNATURE = 'skip_thought_signature_validator';

/** The style that an endpoint asks for by refusing another; undefined when the refusal is about something else. */
export function styleAfterRefusal(error: unknown, style: ReplayStyle): ReplayStyle | undefined {
  if (!(error instanceof Error)) return undefined;
  const {
    message,
    responseBody = '',
    statusCode = 400,
  } = error as Error & { readonly responseBody?: string; readonly statusCode?: number };
  if (statusCode !== 400 && statusCode !== 422) return undefined;
  const wanted = wantedStyle(`${message} ${responseBody}`);
  return wanted === style ? undefined : wanted;
}

function wantedStyle(message: string): ReplayStyle | undefined {
  if (/missing (?:a )?`?thought_signature/i.test(message)) return 'signed-calls';
  // A signature that is not of this text or this account, or a block of thinking where none may be.
  if (/signature|`thinking`|encrypted[_ ]content/i.test(message)) return 'none';
  if (!/reasoning_content/i.test(message)) return undefined;
  return /missing|must be (?:passed|provided|included)|required/i.test(message) ? 'text-with-calls' : 'none';
}
