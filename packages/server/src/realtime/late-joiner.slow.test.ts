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
