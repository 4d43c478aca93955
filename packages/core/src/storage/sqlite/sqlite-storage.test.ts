import { storageContract } from '../contract.ts';
import { temporaryDatabase } from './temporary-database.test-support.ts';

storageContract('sqlite', async (clock) => {
  const database = temporaryDatabase();
  const storage = await database.open({ clock });
  let newest = storage;
  return {
    storage,
    reopen: async () => {
      await newest.close();
      return (newest = await database.open({ clock }));
    },
    dispose: database.dispose,
  };
});
