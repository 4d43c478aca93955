/** Whose devices are sent what, where the server has users. */
import { MessageAction } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { Browser, testProvider, type Account } from '../access/oidc.test-support.ts';
import { testServer } from '../server.test-support.ts';
import { addDevice, devicesOf, postDevice, pushService } from './push-service.test-support.ts';

const OWNER = { 'x-session-api-key': 'the-key-of-the-server' };
const person = (name: string, ...groups: string[]): Account => ({ name, email: `${name}@example.org`, email_verified: true, groups });
const ACCOUNTS = { ada: person('Ada Lovelace', 'admins'), carl: person('Carl Sagan', 'all') };

it('SV1401, SV1405: a user is sent what they began, on their own devices, until they are disabled or erased', async () => {
  const provider = await testProvider(ACCOUNTS);
  const service = await pushService();
  const env = { ...provider.env, ...service.env, OIDC_ROLES: 'admins=acme:admin,all=acme:member' };
  const started = await testServer({
    sessionApiKey: OWNER['x-session-api-key'],
    env,
    script: [{ text: 'Done.' }, { text: 'Done again.' }],
  });
  const server = { ...started, url: started.url.replace('localhost', '127.0.0.1') };
  const signIn = async (name: string) => {
    const browser = new Browser(name);
    await browser.get(`${server.url}/login/oidc`);
    return browser.headers(server.url);
  };
  const [ada, carl] = [await signIn('ada'), await signIn('carl')];
  const adas = await addDevice(server, service, { name: 'of Ada', headers: ada });
  const carls = await addDevice(server, service, { name: 'of Carl', headers: carl });
  const names = async (headers: Readonly<Record<string, string>>) => (await devicesOf(server, headers)).devices.map(({ device }) => device);
  expect([await names(ada), await names(carl), await names(OWNER)]).toEqual([['of Ada'], ['of Carl'], []]);
  const remove = await fetch(`${server.url}/api/push/devices/${adas.id}`, { method: 'DELETE', headers: carl });
  expect(remove.status).toBe(404);
  const begin = async (headers: Readonly<Record<string, string>>): Promise<string> => {
    const answer = await server.post('/api/conversations', { initial_user_msg: 'Say it' }, headers);
    return ((await answer.json()) as { readonly conversation_id: string }).conversation_id;
  };
  const first = await begin(carl);
  expect((await service.received.until(({ message }) => message.conversation_id === first)).path).toBe(carls.path);
  const second = await begin(ada);
  expect((await service.received.until(({ message }) => message.conversation_id === second)).path).toBe(adas.path);
  // Who signs in on a device after somebody else takes it over.
  const shared = service.subscribe((await devicesOf(server, ada)).application_server_key, 'shared');
  for (const headers of [ada, carl]) expect((await postDevice(server, shared, headers)).status).toBe(201);
  expect([await names(ada), (await names(carl)).toSorted()]).toEqual([['of Ada'], ['of Carl', 'shared']]);
  const { users } = started.engine.access;
  const id = (await started.engine.conversations.get(first))!.created_by!.id;
  await users!.setDisabled(id, true);
  await started.engine.conversations.submit(first, MessageAction.create({ content: 'Again' }));
  await expect.poll(() => started.engine.conversations.state(first)?.agentState).toBe('awaiting_user_input');
  const third = await begin(ada);
  await service.received.until(({ message }) => message.conversation_id === third);
  await users!.setDisabled(id, false);
  await started.engine.erasures!.erase(id);
  expect(await started.engine.pushDevices.reached(id)).toEqual([]);
  expect(service.received.all.filter(({ path }) => path === carls.path)).toHaveLength(1);
});
