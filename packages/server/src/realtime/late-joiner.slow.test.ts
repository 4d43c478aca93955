import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { socketIoClient, temporaryFolder, testServer, type SocketIoClient } from '../server.test-support.ts';

const outputOf = (client: SocketIoClient) =>
  client.volatile.all.filter((frame) => frame.volatile === 'output').toSorted((a, b) => Number(a.offset) - Number(b.offset));

/** However it is cut into pieces. */
const textOf = (client: SocketIoClient): string =>
  outputOf(client)
    .map((frame) => frame.text)
    .join('');

it('EN95: who connects in the middle of a running command sees its output from the start, each piece once', async () => {
  const server = await testServer();
  const gate = join(temporaryFolder(), 'go');
  const id = await server.create();
  const first = await socketIoClient(server, { conversation_id: id });
  await first.frames.untilState('awaiting_user_input');
  const command = `echo one; echo two; until [ -e ${gate} ]; do sleep 0.05; done; echo three`;
  first.send({ action: 'run', args: { command, blocking: true } });
  await first.volatile.until(() => textOf(first).includes('two'));

  const second = await socketIoClient(server, { conversation_id: id });
  await second.volatile.until(() => textOf(second).includes('two'));
  writeFileSync(gate, '');
  await second.frames.until((frame) => frame.observation === 'run');
  for (const client of [first, second]) {
    await client.volatile.until(() => textOf(client).includes('three\n'));
    expect(textOf(client)).toBe('one\ntwo\nthree\n');
    expect(outputOf(client)[0]).toMatchObject({ offset: 0 });
  }
});

it('EN73: the last letter of a question is shown, also when a secret begins with it', async () => {
  const server = await testServer({ env: { LLM_API_KEY: 'yellow-submarine' } });
  const client = await socketIoClient(server, { conversation_id: await server.create() });
  await client.frames.untilState('awaiting_user_input');
  const gate = join(temporaryFolder(), 'go');
  const command = `printf 'Go on? [n/y'; until [ -e ${gate} ]; do sleep 0.05; done; echo ellow-submarine`;
  client.send({ action: 'run', args: { command, blocking: true } });
  await client.volatile.until(() => textOf(client).endsWith('[n/y'));
  writeFileSync(gate, '');
  await client.frames.until((frame) => frame.observation === 'run');
  await client.volatile.until(() => textOf(client).endsWith('\n'));
  expect(textOf(client)).toBe('Go on? [n/y<secret_hidden>\n');
});
