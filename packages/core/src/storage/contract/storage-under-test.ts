import type { Storage } from '../storage.ts';

/** What a backend gives the contract suite. `reopen` closes the storage and opens what it left behind. */
export interface StorageUnderTest {
  readonly storage: Storage;
  readonly reopen?: () => Promise<Storage>;
  readonly dispose: () => Promise<void>;
}
