import { beforeAll } from 'vitest';
import { storageContract } from '../contract.ts';
import { TemporaryDatabase } from './temporary-database.test-support.ts';

let database: TemporaryDatabase;
beforeAll(async () => {
  database = await TemporaryDatabase.create();
});

storageContract('postgres', async (clock) => {
  const storage = await database.open({ clock });
  let newest = storage;
  return {
    storage,
    reopen: async () => {
      await newest.close();
      return (newest = await database.open({ clock }));
    },
    dispose: () => database.empty(),
  };
});
