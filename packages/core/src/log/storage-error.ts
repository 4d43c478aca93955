import { catalogError, IllegalTransition, type CatalogError } from '@tendon/protocol';

/**
 * Why a storage cannot do what it was asked.
 * `failed`: a write may not be durable; nothing is written any more until the storage is opened anew. `undone`: this write was not made, later ones may
 * succeed. `unknown`: no answer came, so it may have been made; an append to the same id finds it out. `fenced`: a later server has taken over, this one
 * writes nothing any more. `closed`: the storage is closed, or the conversation deleted. The rest are refusals to open.
 */
export type StorageErrorCode = 'failed' | 'undone' | 'unknown' | 'fenced' | 'closed' | 'locked' | 'newer' | 'foreign' | 'unusable';

export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly code: StorageErrorCode;
  constructor(code: StorageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The client's error for an unexpected failure: a full or broken storage, a step the agent cannot take, or only that the server failed. */
export function failureFor(error: unknown): CatalogError {
  if (error instanceof IllegalTransition) return catalogError('ILLEGAL_STATE', error.message);
  const isStorage = error instanceof StorageError && ['undone', 'unknown', 'fenced', 'failed'].includes(error.code);
  return isStorage ? catalogError('STORAGE_FAILED', error.message) : catalogError('INTERNAL');
}
