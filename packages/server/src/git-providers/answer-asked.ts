import type { GitProvider } from '@tendon/protocol';
import type { FastifyReply } from 'fastify';
import type { Asked } from './apis/ask-providers.ts';
import type { ProviderLogin, ProviderTokens } from './provider-tokens.ts';
import { sendFailure, sendJsonText } from '../platform/http/failure.ts';

export interface ProviderChoice {
  readonly provider?: GitProvider | undefined;
  readonly selected_provider?: GitProvider | undefined;
}

/**
 * What was asked of the providers that the request means, or why there is nothing. A missing or refused token is told as 0.62 does,
 * with a JSON string.
 */
export async function answerAsked<T>(
  reply: FastifyReply,
  tokens: ProviderTokens,
  choice: ProviderChoice,
  ask: (logins: readonly ProviderLogin[]) => Promise<Asked<T>>,
): Promise<T> {
  const provider = choice.selected_provider ?? choice.provider;
  const logins = tokens.logins.filter((login) => provider === undefined || login.provider === provider);
  if (logins.length === 0) {
    return sendJsonText(reply.code(401), JSON.stringify(`Git provider token required. (such as ${provider ?? 'GitHub'}).`)) as never;
  }
  const asked = await ask(logins);
  if (asked.ok) return asked.value;
  const { error, retryAfterSeconds } = asked;
  if (error.status === 401) return sendJsonText(reply.code(401), JSON.stringify(error.message)) as never;
  if (retryAfterSeconds !== undefined) void reply.header('retry-after', String(retryAfterSeconds));
  return sendFailure(reply, error) as never;
}
