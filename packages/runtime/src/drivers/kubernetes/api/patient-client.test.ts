import { expect, it, onTestFinished } from 'vitest';
import { startApiServerStandIn, type ApiServerStandIn } from '../../../testing/cluster/api-server-stand-in.ts';
import { createApiClient, type ApiClient } from './api-client.ts';
import { patientClient } from './patient-client.ts';

const VERSION = { method: 'GET', path: '/version' } as const;

async function cluster(): Promise<{ readonly api: ApiServerStandIn; readonly client: ApiClient }> {
  const api = await startApiServerStandIn();
  onTestFinished(() => api.close());
  return { api, client: patientClient(createApiClient(api.access)) };
}

/** Answers so, one after the other, and from then on as always. */
function answer(api: ApiServerStandIn, statuses: readonly number[]): void {
  const left = [...statuses];
  api.refuse = () => {
    const status = left.shift();
    return status === undefined ? undefined : { status, message: status === 500 ? 'etcdserver: leader changed' : 'not now' };
  };
}

it('SB1019: what is asked while the API server is away, and before it knows who may do what, is answered when it is back', async () => {
  const { api, client } = await cluster();
  answer(api, [503, 500, 429, 403, 401]);
  expect(await client.json(VERSION)).toMatchObject({ gitVersion: expect.any(String) });
  expect(api.requests).toHaveLength(6);
});

it('SB1006: what is refused by one that was not away is refused at once, as is anything that another request would not change', async () => {
  const { api, client } = await cluster();
  for (const status of [403, 401, 404, 409, 422]) {
    answer(api, [status]);
    await expect(client.json(VERSION)).rejects.toMatchObject({ status });
  }
  expect(api.requests).toHaveLength(5);
});

it('SB1019: a caller that has given up hears why there was no answer', async () => {
  const { api, client } = await cluster();
  await api.close();
  const giveUp = new AbortController();
  const asked = client.json({ ...VERSION, signal: giveUp.signal });
  setImmediate(() => giveUp.abort(new Error('given up')));
  await expect(asked).rejects.toThrow(/does not answer|given up/);
});
