import { deltasOf, withDelta, type DeltaFrame, type PartialAnswer } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { HeldEndpoint } from '../conversations/held-endpoint.test-support.ts';
import { socketIoClient, testServer, type SocketIoClient } from '../server.test-support.ts';

const deltasTo = (client: SocketIoClient) => client.volatile.all.filter(({ volatile }) => volatile === 'delta') as unknown as DeltaFrame[];

const textTo = (client: SocketIoClient): string =>
  deltasOf(deltasTo(client).reduce<PartialAnswer | undefined>(withDelta, undefined))
    .map(({ text }) => text)
    .join();

it('SV940: a client that joins while the model answers is given the answer from its first letter, also after a message in between', async () => {
  const endpoint = await HeldEndpoint.start();
  const server = await testServer({ env: { LLM_MODEL: 'openai/x', LLM_API_KEY: 'sk-of-the-tests', LLM_BASE_URL: endpoint.url } });
  const id = await server.create();
  const first = await socketIoClient(server, { conversation_id: id });
  await first.frames.untilState('awaiting_user_input');
  first.send({ action: 'message', args: { content: 'job-a' } });
  const model = await endpoint.untilAsked('job-a');
  model.begin('One. Two.');
  await first.volatile.until(() => textTo(first) === 'One. Two.');

  first.send({ action: 'message', args: { content: 'and quickly' } });
  await first.frames.until(({ message }) => message === 'and quickly');
  const second = await socketIoClient(server, { conversation_id: id });
  await second.volatile.until(() => textTo(second) === 'One. Two.');
  expect(deltasTo(second)).toMatchObject([{ part: 'text', offset: 0 }]);
  model.begin(' Three.');
  for (const client of [first, second]) await client.volatile.until(() => textTo(client) === 'One. Two. Three.');

  model.answer();
  await first.frames.until(({ source, action }) => source === 'agent' && action === 'message');
  const third = await socketIoClient(server, { conversation_id: id });
  await third.volatile.until(({ phase }) => phase === 'end');
  expect(deltasTo(third).filter(({ text }) => text.startsWith('One'))).toEqual([]);
});
