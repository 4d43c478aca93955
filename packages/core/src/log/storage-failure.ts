import { catalogError, type CatalogError } from '@tendon/protocol';
import { StorageError } from './storage-error.ts';

/** The client's error for an unexpected failure: that the storage cannot write, with its message, or only that the server failed. */
export function failureFor(error: unknown): CatalogError {
  const isStorage = error instanceof StorageError && (error.code === 'undone' || error.code === 'failed');
  return isStorage ? catalogError('STORAGE_FAILED', error.message) : catalogError('INTERNAL');
}
