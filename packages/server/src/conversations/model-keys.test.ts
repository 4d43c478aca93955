import { Secret } from '@tendon/protocol/masking';
import { expect, it } from 'vitest';
import { conversationsWith } from './conversations.test-support.ts';
import { ModelKeys } from './model-keys.ts';

const JWT = new Secret('a-jwt-secret-of-this-server');
const ACCESS = { apiKey: new Secret('key-of-initialize'), baseUrl: 'https://models.example/v1', isAdmins: true };

it('SV1260: a key is sealed for the record, and read of it under the same secret alone', () => {
  const keys = new ModelKeys(JWT);
  const record = { id: 'a', model_access: keys.sealed(ACCESS) };
  expect(record.model_access).not.toContain('key-of-initialize');
  expect(record.model_access).not.toContain('models.example');
  expect(keys.of(record)).toEqual(ACCESS);
  expect(new ModelKeys(new Secret('another-jwt-secret')).of(record)).toBeUndefined();
  expect(keys.of({ id: 'a', model_access: `${record.model_access.slice(0, -2)}AA` })).toBeUndefined();
  expect(keys.of({ id: 'b' })).toBeUndefined();
});

it('what seals the same is not sealed anew', () => {
  const keys = new ModelKeys(JWT);
  const sealed = keys.sealed(ACCESS);
  expect(keys.sealed({ ...ACCESS, apiKey: new Secret('key-of-initialize') }, sealed)).toBe(sealed);
  expect(keys.sealed({ ...ACCESS, isAdmins: false }, sealed)).not.toBe(sealed);
  expect(keys.sealed({ baseUrl: ACCESS.baseUrl }, sealed)).not.toBe(sealed);
});

it('what a client gave last counts over a record of before, until the conversation leaves', () => {
  const keys = new ModelKeys(JWT);
  const [before, after] = ['key-0000000001', 'key-0000000002'].map((key) => ({
    id: 'a',
    model_access: keys.sealed({ apiKey: new Secret(key) }),
  }));
  const used = () => keys.of(before!)?.apiKey?.reveal();
  keys.open(before!);
  keys.hold(after!);
  keys.open(before!);
  expect([used(), keys.sealedOf(before!)]).toEqual(['key-0000000002', after!.model_access]);
  expect(keys.secrets.map((secret) => secret.reveal())).toEqual(['key-0000000002']);
  keys.forget('a');
  expect([used(), keys.sealedOf(before!), keys.secrets]).toEqual(['key-0000000001', before!.model_access, []]);
  keys.hold(after!);
  keys.forget();
  expect(keys.secrets).toEqual([]);
});

it('SV1260: who works for a conversation is given its key, as it is then', async () => {
  const { conversations, storage } = conversationsWith(60_000);
  const made = await conversations.create({ llm: ACCESS });
  if (!made.ok) throw new Error(made.error.message);
  const stored = async (id: string) => (await conversations.get(id))?.model_access;
  const child = await conversations.createDelegated(made.record, { actionId: 1, agent: 'CodeActAgent' });
  expect([await stored(child.id), made.record.model_access]).toEqual([made.record.model_access, expect.stringMatching(/^v1\./)]);
  await conversations.configure(made.record.id, { llm: ACCESS });
  expect(await stored(made.record.id)).toBe(made.record.model_access);
  await conversations.configure(made.record.id, { llm: { apiKey: new Secret('key-of-another-initialize') } });
  const later = await stored(made.record.id);
  expect(later).not.toBe(made.record.model_access);
  const second = await conversations.createDelegated(made.record, { actionId: 2, agent: 'CodeActAgent' });
  expect(await stored(second.id)).toBe(later);
  await conversations.delete(made.record.id);
  expect(JSON.stringify(await storage.records.list('conversations'))).not.toContain('model_access');
  await conversations.close();
});
