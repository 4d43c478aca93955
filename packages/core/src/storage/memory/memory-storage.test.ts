import { storageContract } from '../contract.ts';
import { createMemoryStorage } from './create-memory-storage.ts';

storageContract('memory', async (clock) => {
  const storage = createMemoryStorage({ clock });
  return { storage, dispose: () => storage.close() };
});
