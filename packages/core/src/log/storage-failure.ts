import { catalogError, type CatalogError } from '@tendon/protocol';
import { StorageError } from './storage-error.ts';

/** What a client is told of an unexpected failure: that the storage cannot keep anything now, with its words, or only that the server failed. */
export function failureFor(error: unknown): CatalogError {
  const isStorage = error instanceof StorageError && (error.code === 'undone' || error.code === 'failed');
  return isStorage ? catalogError('STORAGE_FAILED', error.message) : catalogError('INTERNAL');
}
