import type { Storage } from '@tendon/core';
import { createMemoryStorage } from '@tendon/core/storage';
import { Mutex } from '@tendon/protocol/async';
import { Secret } from '@tendon/protocol/masking';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../platform/system-clock.ts';
import { boundSecretsOf } from './bound-secrets.ts';
import { OwnedSecrets } from './owned-secrets.ts';
import { SecretStore } from './secret-store.ts';

const jwtSecret = new Secret('the same on every server');
const named = (values: ReadonlyMap<string, Secret>) => Object.fromEntries([...values].map(([name, value]) => [name, value.reveal()]));

async function opened({ records }: Pick<Storage, 'records'> = createMemoryStorage({ clock: systemClock }), hasUsers = true) {
  const server = await SecretStore.open(records, jwtSecret);
  const owned = await OwnedSecrets.open(server, { records, jwtSecret, hasUsers, onChange: () => undefined });
  return { records, server, owned };
}

it('SV1390: a conversation is given the server’s secrets, its organisation’s and those of who began it; of one name the nearest', async () => {
  const { server, owned } = await opened();
  const dora = { created_by: { id: 'dora' } };
  await server.create({ name: 'ONE', value: 'one-of-the-server' });
  await owned.in('organisation:acme').create({ name: 'ONE', value: 'one-of-acme', description: 'ours', hosts: ['acme.example'] });
  await owned.in('organisation:acme').create({ name: 'TWO', value: 'two-of-acme' });
  await owned.in('user:dora@acme').create({ name: 'TWO', value: 'two-of-dora' });
  await owned.in('user:dora@labs').create({ name: 'TWO', value: 'two-in-labs' });
  expect(named(owned.of({}).values)).toEqual({ ONE: 'one-of-the-server' });
  expect(named(owned.of({ organisation_id: 'acme' }).values)).toEqual({ ONE: 'one-of-acme', TWO: 'two-of-acme' });
  expect(named(owned.of({ organisation_id: 'acme', ...dora }).values)).toEqual({ ONE: 'one-of-acme', TWO: 'two-of-dora' });
  expect(named(owned.of({ organisation_id: 'labs', ...dora }).values)).toEqual({ ONE: 'one-of-the-server', TWO: 'two-in-labs' });
  expect(named(owned.of({ organisation_id: 'other', ...dora }).values)).toEqual({ ONE: 'one-of-the-server' });
  expect(named(owned.of(dora).values)).toEqual({ ONE: 'one-of-the-server' });
  const view = owned.of({ organisation_id: 'acme', ...dora });
  expect(view.list).toEqual({
    custom_secrets: [
      { name: 'ONE', description: 'ours', hosts: ['acme.example'] },
      { name: 'TWO', description: null },
    ],
  });
  expect([view.hostsOf('ONE'), view.hostsOf('TWO'), server.hostsOf('ONE')]).toEqual([['acme.example'], [], []]);
  // Made anew when one of the owners has changed.
  const bound = boundSecretsOf(owned, { of: () => ({ logins: [], set: {} }) });
  expect(view.values).toBe(view.values);
  expect(bound({ organisation_id: 'acme', ...dora }).map(({ name }) => name)).toEqual(['ONE']);
  expect([bound({ organisation_id: 'labs', ...dora }), bound({})]).toEqual([[], []]);
  await owned.in('organisation:acme').delete('ONE');
  expect(named(view.values)).toEqual({ ONE: 'one-of-the-server', TWO: 'two-of-dora' });
  expect(new Set(owned.all.map((secret) => secret.reveal()))).toEqual(
    new Set(['one-of-the-server', 'two-of-acme', 'two-of-dora', 'two-in-labs']),
  );
});

it('SV1390: what is stored for one owner is read by every server, given to nobody by one of an earlier version, and removed with its user', async () => {
  const one = await opened();
  await one.owned.in('user:dora@acme').create({ name: 'MINE', value: 'value-of-dora' });
  await one.owned.in('user:dora@labs').create({ name: 'MINE', value: 'value-in-labs' });
  await one.owned.in('user:carl@acme').create({ name: 'MINE', value: 'value-of-carl' });
  const other = await opened(one);
  expect(named(other.owned.of({ organisation_id: 'acme', created_by: { id: 'dora' } }).values)).toEqual({ MINE: 'value-of-dora' });
  expect(other.server.values.size).toBe(0);
  expect(JSON.stringify(await one.records.list('owned_secrets'))).not.toContain('value-of');
  await other.owned.removeAllOf('dora');
  expect((await one.records.list('owned_secrets')).map(({ id }) => id)).toEqual(['user:carl@acme/MINE']);
  expect((await opened(one, false)).owned.all).toEqual([]);
});

describe('SV1261: a secret that another server changed a moment ago', () => {
  /** Two servers, of which neither has heard of the other's changes. */
  async function two() {
    const { records } = createMemoryStorage({ clock: systemClock });
    const [one, other] = [await opened({ records }), await opened({ records })];
    const [mine, theirs] = [one, other].map(({ owned }) => owned.in('user:dora@acme')) as [SecretStore, SecretStore];
    const stored = async () => (await records.list<{ name: string; hosts?: readonly string[] }>('owned_secrets')).map(({ value }) => value);
    return { records, one, other, mine, theirs, stored };
  }

  it('is not replaced by one of the same name', async () => {
    const { mine, theirs } = await two();
    expect(await mine.create({ name: 'ONE', value: 'value-of-mine' })).toBeUndefined();
    expect(await theirs.create({ name: 'ONE', value: 'value-of-theirs' })).toMatchObject({ message: 'Secret ONE already exists' });
    expect(named(theirs.values)).toEqual({ ONE: 'value-of-mine' });
    await theirs.create({ name: 'TWO', value: 'value-of-theirs' });
    expect(await mine.update('ONE', { name: 'TWO' })).toMatchObject({ message: 'Secret TWO already exists' });
  });

  it('keeps the hosts that it was bound to, also under another name', async () => {
    const { mine, theirs, stored } = await two();
    await mine.create({ name: 'ONE', value: 'value-of-mine' });
    await theirs.update('ONE', { name: 'ONE', description: 'theirs' });
    await mine.update('ONE', { name: 'ONE', hosts: ['a.example'] });
    await theirs.update('ONE', { name: 'ONE', description: 'changed' });
    expect(theirs.hostsOf('ONE')).toEqual(['a.example']);
    await mine.update('ONE', { name: 'ONE', hosts: ['b.example'] });
    await theirs.update('ONE', { name: 'TWO' });
    expect(await stored()).toMatchObject([{ name: 'TWO', description: 'changed', hosts: ['b.example'] }]);
  });

  it('keeps what another server changes at any moment of its renaming', async () => {
    const { records, theirs, stored } = await two();
    let last: readonly string[] = [];
    let moments = 0;
    const change = async () => {
      const hosts = [`host-${(moments += 1)}.example`];
      if (!(await theirs.update('ONE', { name: 'ONE', hosts }))) last = hosts;
    };
    const disturbed = new Proxy(records, {
      get:
        (of, name: keyof typeof records) =>
        async (...given: unknown[]) => {
          await change();
          return (of[name] as (...all: unknown[]) => unknown).apply(of, given);
        },
    });
    const mine = new SecretStore(
      { records: disturbed, jwtSecret, onChange: () => undefined },
      { collection: 'owned_secrets', prefix: 'user:dora@acme/' },
      new Mutex(),
    );
    await theirs.create({ name: 'ONE', value: 'value-of-theirs' });
    expect(await mine.update('ONE', { name: 'TWO' })).toBeUndefined();
    expect(last).not.toEqual([]);
    expect(await stored()).toMatchObject([{ name: 'TWO', hosts: last }]);
    expect(named(mine.values)).toEqual({ TWO: 'value-of-theirs' });
  });

  it('does not come back when it was deleted, and is deleted when it was made', async () => {
    const { one, mine, theirs, stored } = await two();
    await mine.create({ name: 'ONE', value: 'value-of-mine' });
    expect(await theirs.delete('ONE')).toBeUndefined();
    expect(await mine.update('ONE', { name: 'ONE', description: 'again' })).toMatchObject({ message: 'Secret with ID ONE not found' });
    expect([await stored(), mine.values.size]).toEqual([[], 0]);
    await theirs.create({ name: 'TWO', value: 'value-of-theirs' });
    await one.owned.removeAllOf('dora');
    expect(await stored()).toEqual([]);
  });
});
