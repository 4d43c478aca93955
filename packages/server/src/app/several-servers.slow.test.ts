import { openPostgresStorage } from '@tendon/core/postgres';
import { Secret } from '@tendon/protocol/masking';
import { sharedPostgres } from '@tendon/testing/postgres';
import { expect, it, onTestFinished } from 'vitest';
import { openTokenStores } from '../platform/auth/token-stores.ts';
import { systemClock as clock } from '../platform/system-clock.ts';
import { SecretStore } from '../secrets/secret-store.ts';
import { SettingsStore } from '../settings/settings.ts';

it('SV1104: settings, secrets, keys and revocations of one server hold on the other, and neither loses what the other sets', async () => {
  const cluster = await sharedPostgres();
  const name = `several_${process.pid}`;
  const url = await cluster.createDatabase(name);
  const jwtSecret = new Secret('the same on every machine');
  const open = async (beside: boolean) => {
    const storage = await openPostgresStorage({ url, clock, beside });
    onTestFinished(() => storage.close());
    const { records } = storage;
    const [settings, secrets] = [await SettingsStore.open(records, jwtSecret), await SecretStore.open(records, jwtSecret)];
    return { settings, secrets, tokens: await openTokenStores(records, clock) };
  };
  onTestFinished(() => cluster.sql('postgres', `DROP DATABASE ${name} WITH (FORCE)`).then(() => undefined));
  const [one, other] = [await open(false), await open(true)];

  await Promise.all([one.settings.update({ max_iterations: 7 }), other.settings.update({ llm_model: 'my/model' })]);
  for (const { settings } of [one, other])
    await expect.poll(() => settings.current).toMatchObject({ max_iterations: 7, llm_model: 'my/model' });
  await one.secrets.create({ name: 'TOKEN', value: 'a-secret-of-mine' });
  await expect.poll(() => other.secrets.values.get('TOKEN')?.reveal()).toBe('a-secret-of-mine');

  const issued = (await one.tokens.keys.issue({ name: 'mine', scope: 'drive' }, undefined))!;
  await expect.poll(() => other.tokens.keys.find(issued.token)?.id).toBe(issued.held.id);
  const ended = other.tokens.keys.ended(issued.held.id, new AbortController().signal);
  await one.tokens.keys.revoke(issued.held.id);
  await other.tokens.keys.use(issued.held.id, 60); // does not bring it back
  await ended;
  await expect.poll(() => [one, other].map(({ tokens }) => tokens.keys.find(issued.token))).toEqual([undefined, undefined]);
});
