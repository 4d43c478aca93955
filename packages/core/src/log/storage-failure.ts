import { catalogError, IllegalTransition, type CatalogError } from '@tendon/protocol';
import { StorageError } from './storage-error.ts';

/** The client's error for an unexpected failure: a full or broken storage, a step the agent cannot take, or only that the server failed. */
export function failureFor(error: unknown): CatalogError {
  if (error instanceof IllegalTransition) return catalogError('ILLEGAL_STATE', error.message);
  const isStorage = error instanceof StorageError && (error.code === 'undone' || error.code === 'failed');
  return isStorage ? catalogError('STORAGE_FAILED', error.message) : catalogError('INTERNAL');
}
