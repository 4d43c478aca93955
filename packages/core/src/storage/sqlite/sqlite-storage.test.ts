import { storageContract } from '../contract.ts';
import { temporaryDatabase } from './temporary-database.test-support.ts';

storageContract('sqlite', async (clock) => {
  const database = temporaryDatabase();
  const storage = await database.open({ clock });
  return {
    storage,
    reopen: async () => {
      await storage.close();
      return database.open({ clock });
    },
    dispose: database.dispose,
  };
});
