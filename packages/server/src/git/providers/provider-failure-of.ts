import { catalogError, type CatalogError, type GitProvider } from '@tendon/protocol';
import { ProviderFailure } from './provider-fetch.ts';

export interface ProviderError {
  readonly error: CatalogError;
  readonly retryAfterSeconds: number | undefined;
}

/** Why `provider` gave nothing, wherever its client put the cause. What is none of ours is an answer that was not as documented. */
export function providerFailureOf(provider: GitProvider, thrown: unknown): ProviderError {
  for (let cause = thrown, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if (cause instanceof ProviderFailure) {
      const { code, message, retryAfterSeconds } = cause;
      const isOneSentence = code === 'PROVIDER_REFUSED' || code === 'PROVIDER_LIMIT';
      return { error: catalogError(code, isOneSentence ? provider : `${provider}: ${message}`), retryAfterSeconds };
    }
  }
  return { error: catalogError('PROVIDER_FAILED', `${provider}: its answer was not understood`), retryAfterSeconds: undefined };
}
