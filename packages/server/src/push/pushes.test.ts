/** What devices are sent, by a real server, through a push service that reads it. */
import { expect, it } from 'vitest';
import { systemClock } from '../platform/system-clock.ts';
import { socketIoClient, testServer, type TestServer } from '../server.test-support.ts';
import { addDevice, devicesOf, postDevice, pushService, type PushService } from './push-service.test-support.ts';

const bash = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });
const finish = { toolCalls: [{ name: 'finish', arguments: { message: 'All of it is done, with the password hunter2hunter2.' } }] };
const KEY = 'the-key-of-the-owner';
const OWNER = { 'x-session-api-key': KEY };

async function begun(service: PushService, script: readonly unknown[], env: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  return testServer({ script, env: { ...service.env, ...env } });
}

const begin = (server: TestServer, initial_user_msg: string, more: object = {}): Promise<string> =>
  server.create({ initial_user_msg, ...more });

const kinds = ({ received }: PushService): readonly string[] => received.all.map(({ message }) => message.kind);

it('SV1400, SV1401: a decision, an answer and an end are each sent once, with no more than the title and what it is', async () => {
  const service = await pushService();
  const server = await begun(service, [
    bash('echo a-secret-command'),
    finish,
    { text: 'Which otter do you mean?' },
    { text: 'The large one.' },
  ]);
  const device = await addDevice(server, service, { name: 'The phone' });
  const id = await begin(server, 'Count the otters', { confirmation_policy: 'always' });
  const decision = await service.received.until(({ message }) => message.kind === 'decision');
  const question = (await (await server.get(`/api/conversations/${id}/question`)).json()) as { question: { event_id: number } };
  const { event_id } = question.question;
  expect(decision).toMatchObject({ path: device.path, headers: { urgency: 'high', ttl: '86400' } });
  expect(decision.message).toEqual({ conversation_id: id, title: 'Count the otters', kind: 'decision', tag: `${id} ${event_id}` });
  await server.post(`/api/conversations/${id}/question`, { event_id, answer: 'approve' });
  const finished = await service.received.until(({ message }) => message.kind === 'finished');
  expect(finished.headers).toMatchObject({ urgency: 'normal', topic: decision.headers.topic });
  expect(JSON.stringify(finished.message)).not.toMatch(/hunter2|secret-command/);
  const client = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
  await client.ask('And now?');
  await service.received.until(({ message }) => message.kind === 'question');
  await client.ask('The large one?');
  await service.received.until(({ message }) => message.kind === 'answered');
  expect(kinds(service)).toEqual(['decision', 'finished', 'question', 'answered']);
});

it('SV1401: what a delegated agent waits for leads to the conversation that the person began, and is all that is sent of it', async () => {
  const service = await pushService();
  // The delegated agent has the same script, and nobody to delegate to.
  const delegate = { toolCalls: [{ name: 'delegate', arguments: { task: 'Choose a colour.' } }] };
  const server = await begun(service, [delegate, bash('echo blue'), finish]);
  await addDevice(server, service);
  const id = await begin(server, 'Paint it', { confirmation_policy: 'always' });
  const { message } = await service.received.until(({ message: { kind } }) => kind === 'decision');
  const [child = '', event] = message.tag.split(' ');
  expect([message.conversation_id, message.title, child === id]).toEqual([id, 'Paint it', false]);
  await server.post(`/api/conversations/${child}/question`, { event_id: Number(event), answer: 'approve' });
  const own = await service.received.until(({ message: { tag } }) => tag.startsWith(`${id} `));
  expect([own.message.kind, kinds(service)]).toEqual(['decision', ['decision', 'decision']]);
});

it('SV1401: what a sandbox wants to reach is sent, once for each host', async () => {
  const service = await pushService();
  const server = await begun(service, [{ text: 'Done.' }], { RUNTIME: 'local', SANDBOX_NETWORK: 'allowlist' });
  await addDevice(server, service);
  const id = await begin(server, 'Paint it');
  await service.received.until(({ message: { kind } }) => kind === 'answered');
  for (const host of ['paint.example', 'brush.example']) {
    await server.engine.conversations.questions.ask(id, { host, port: 443 });
    const { message } = await service.received.until(({ message: { tag } }) => tag === `${id} ${host}`);
    expect(message).toEqual({ conversation_id: id, title: 'Paint it', kind: 'network', tag: `${id} ${host}` });
  }
  expect(kinds(service)).toEqual(['answered', 'network', 'network']);
});

it('SV1402: a device that has unsubscribed is removed, and one that was added later is not sent what was before', async () => {
  const service = await pushService((path) => (path === gone ? { status: 410 } : undefined));
  const server = await begun(service, [{ text: 'One.' }, { text: 'Two.' }]);
  const first = await addDevice(server, service);
  const gone: string = first.path;
  const steady = await addDevice(server, service, { name: 'The laptop' });
  await begin(server, 'Say one');
  await service.received.until(({ path }) => path === steady.path);
  await expect.poll(async () => (await devicesOf(server)).devices.map(({ device }) => device)).toEqual(['The laptop']);
  const late = await addDevice(server, service);
  await begin(server, 'Say two');
  await service.received.until(({ path }) => path === late.path);
  expect(service.received.all.filter(({ path }) => path === late.path)).toHaveLength(1);
  expect(service.received.all.filter(({ path }) => path === gone)).toHaveLength(1);
});

it('SV1403: a push service that is busy is asked again after the time that it names, and not for what is over by then', async () => {
  const service = await pushService((_path, count) => (count === 0 ? { status: 429, headers: { 'retry-after': '1' } } : undefined));
  const server = await begun(service, [bash('echo 1'), finish]);
  await addDevice(server, service);
  const id = await begin(server, 'Wait a little', { confirmation_policy: 'always' });
  const first = await service.received.until(({ message }) => message.kind === 'decision');
  const eventId = Number(first.message.tag.split(' ')[1]);
  await server.post(`/api/conversations/${id}/question`, { event_id: eventId, answer: 'approve' });
  await service.received.until(({ message }) => message.kind === 'finished');
  expect(kinds(service)).toEqual(['decision', 'finished']);
});

it('SV1403: what a push service could not take is sent again, to the device that lacks it alone', async () => {
  const service = await pushService((path, count) => (path === flaky && count < 2 ? { status: 503 } : undefined));
  const clock = { ...systemClock, sleep: ((ms, options) => systemClock.sleep(Math.min(ms, 100), options)) as typeof systemClock.sleep };
  const server = await testServer({ script: [{ text: 'Done.' }], env: service.env, clock });
  const { path: flaky } = await addDevice(server, service);
  const { path: steady } = await addDevice(server, service);
  await begin(server, 'Say it');
  await expect.poll(() => service.received.all.filter(({ path }) => path === flaky).length).toBe(3);
  expect(service.received.all.filter(({ path }) => path === steady)).toHaveLength(1);
});

it('SV1404: an address that is not https, that leads near the server, or that redirects is never asked', async () => {
  const service = await pushService(() => ({ status: 307, headers: { location: 'http://127.0.0.1:1/' } }));
  const server = await begun(service, [{ text: 'Done.' }]);
  const { application_server_key: key } = await devicesOf(server);
  const usable = service.subscribe(key);
  const add = async (change: object): Promise<number> => (await postDevice(server, { ...usable, ...change })).status;
  const refused = [
    'http://push.example/1',
    'https://a:b@push.example/1',
    'file:///etc/passwd',
    'nothing',
    `https://push.example/${'x'.repeat(3000)}`,
  ];
  for (const endpoint of refused)
    expect([endpoint.slice(0, 40), await add({ endpoint })]).toEqual([endpoint.slice(0, 40), expect.toBeOneOf([400, 422])]);
  const broken = { keys: { ...usable.keys, p256dh: Buffer.alloc(65, 4).toString('base64url') } };
  expect([await add(broken), await add({ device: ' ' })]).toEqual([400, 422]);
  const reasons: string[] = [];
  const near = await testServer({
    script: [{ text: 'Done.' }],
    env: service.env,
    log: (line) => void (line.includes('a push was not taken') && reasons.push((JSON.parse(line) as { reason: string }).reason)),
  });
  for (const host of ['localhost:8443', '10.0.0.1', '169.254.169.254', '[::1]:8443']) {
    const keyed = service.subscribe((await devicesOf(near)).application_server_key);
    expect((await postDevice(near, { ...keyed, endpoint: `https://${host}/push` })).status).toBe(201);
  }
  await addDevice(near, service);
  await begin(near, 'Say it');
  await expect.poll(() => reasons.length).toBe(5);
  for (const reason of ['link-local', 'is private', 'not public', 'loopback', 'status 307'])
    expect(reasons.filter((one) => one.includes(reason))).not.toEqual([]);
});

it('SV1405: a device ends with its key, and everybody sees and removes their own', async () => {
  const service = await pushService();
  const server = await testServer({ sessionApiKey: KEY, script: [{ text: 'One.' }, { text: 'Two.' }], env: service.env });
  const issue = async (name: string) =>
    (await (await server.post('/api/keys', { name, scope: 'drive' }, OWNER)).json()) as { readonly id: string; readonly key: string };
  const [one, two] = [await issue('one'), await issue('two')];
  const by = ({ key }: { readonly key: string }) => ({ 'x-session-api-key': key });
  const first = await addDevice(server, service, { name: 'of one', headers: by(one) });
  const second = await addDevice(server, service, { name: 'of two', headers: by(two) });
  await addDevice(server, service, { name: 'of the owner', headers: OWNER });
  const names = async (headers: Readonly<Record<string, string>>) =>
    (await devicesOf(server, headers)).devices.map(({ device }) => device).toSorted();
  expect([await names(by(one)), await names(by(two)), await names(OWNER)]).toEqual([
    ['of one'],
    ['of two'],
    ['of one', 'of the owner', 'of two'],
  ]);
  const remove = async (id: string, headers: Readonly<Record<string, string>>) =>
    (await fetch(`${server.url}/api/push/devices/${id}`, { method: 'DELETE', headers })).status;
  expect([await remove(second.id, by(one)), await remove(first.id, by(one))]).toEqual([404, 200]);
  const conversation = { initial_user_msg: 'Say one' };
  await server.post('/api/conversations', conversation, OWNER);
  await expect.poll(() => service.received.all.length).toBe(2);
  expect((await fetch(`${server.url}/api/keys/${two.id}`, { method: 'DELETE', headers: OWNER })).status).toBe(200);
  expect(await names(OWNER)).toEqual(['of the owner']);
  await server.post('/api/conversations', conversation, OWNER);
  await expect.poll(() => service.received.all.length).toBe(3);
});

it('SV1405: of one key there are twenty devices, the newest, and the same browser is one', async () => {
  const service = await pushService();
  const server = await testServer({ env: service.env });
  const { application_server_key: key } = await devicesOf(server);
  for (let count = 0; count < 21; count += 1) await addDevice(server, service, { name: `device ${count}` });
  const again = service.subscribe(key, 'device 21');
  for (const device of ['device 21', 'renamed']) expect((await postDevice(server, { ...again, device })).status).toBe(201);
  const names = (await devicesOf(server)).devices.map(({ device }) => device);
  expect([names.length, names[0], names.includes('device 1'), names.includes('device 2')]).toEqual([20, 'renamed', false, true]);
});
