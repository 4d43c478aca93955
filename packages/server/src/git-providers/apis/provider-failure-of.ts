import { catalogError, type CatalogError, type GitProvider } from '@tendon/protocol';
import { ProviderFailure } from './provider-fetch.ts';

export interface ProviderError {
  readonly error: CatalogError;
  readonly retryAfterSeconds: number | undefined;
}

/** Why `provider` gave nothing. What is none of ours is an answer that was not as documented. */
export function providerFailureOf(provider: GitProvider, thrown: unknown): ProviderError {
  const failure = failureIn(thrown);
  if (!failure)
    return { error: catalogError('PROVIDER_FAILED', `${provider}: its answer was not understood`), retryAfterSeconds: undefined };
  const { code, message, retryAfterSeconds } = failure;
  const isOneSentence = code === 'PROVIDER_REFUSED' || code === 'PROVIDER_LIMIT';
  return { error: catalogError(code, isOneSentence ? provider : `${provider}: ${message}`), retryAfterSeconds };
}

/** Ours, wherever the provider's client put it. */
export function failureIn(thrown: unknown): ProviderFailure | undefined {
  for (let cause = thrown, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if (cause instanceof ProviderFailure) return cause;
  }
  return undefined;
}
