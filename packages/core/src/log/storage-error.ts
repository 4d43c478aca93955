import { catalogError, IllegalTransition, type CatalogError } from '@tendon/protocol';

/**
 * Why a storage cannot do what it was asked.
 * `failed`: a write may not be durable; nothing is written any more until the storage is opened anew. `undone`: this write was not made, later ones may
 * succeed. `unknown`: no answer came, so it may have been made; an append to the same id finds it out. `fenced`: another server has the conversation, or all
 * of them; this one writes nothing more of it. `closed`: the storage is closed, or the conversation deleted. The rest are refusals to open.
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
  if (error instanceof StorageError && error.code === 'fenced') return catalogError('CONVERSATION_MOVED');
  const isStorage = error instanceof StorageError && ['undone', 'unknown', 'failed'].includes(error.code);
  return isStorage ? catalogError('STORAGE_FAILED', error.message) : catalogError('INTERNAL');
}
