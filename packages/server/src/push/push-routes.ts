import type { RecordStore } from '@tendon/core';
import { AddPushDevice, catalogError, Failure, PushDevice, PushDevices as PushDeviceList, Revoked } from '@tendon/protocol';
import type { Secret } from '@tendon/protocol/masking';
import { z } from 'zod';
import type { Config } from '../platform/config/config.ts';
import type { Routes } from '../platform/http/app.ts';
import { fail, failureWith, sendFailure } from '../platform/http/failure.ts';
import { originOf } from '../platform/http/request-parts.ts';
import type { PushDevices } from './push-devices.ts';

interface PushContext {
  readonly pushDevices: PushDevices;
  readonly storage: { readonly records: RecordStore };
  readonly jwtSecret: Secret;
  readonly config: Pick<Config, 'network'>;
}

/** The devices to which the server sends what waits for their person. Loads what it needs when it is first asked. */
export const pushRoutes: Routes<PushContext> = (app, { pushDevices, storage, jwtSecret, config }) => {
  app.get('/api/push/devices', { schema: { response: { 200: PushDeviceList } } }, async ({ principal }) => {
    const { vapidKey } = await import('./vapid-key.ts');
    const { public: application_server_key } = await vapidKey(storage.records, jwtSecret);
    return { application_server_key, devices: [...(await pushDevices.list(principal))] };
  });

  const adding = { body: AddPushDevice, response: { 201: PushDevice, '4xx': Failure } };
  app.post('/api/push/devices', { schema: adding }, async (request, reply) => {
    const { body, principal } = request;
    const { isUsable } = await import('./push-encryption.ts');
    const problem =
      endpointProblem(body.endpoint, config.network.allowPrivate) ?? (isUsable(body.keys) ? undefined : 'keys: they are none');
    if (problem !== undefined) return sendFailure(reply, catalogError('INVALID_ARGUMENTS', problem));
    const added = await pushDevices.add(principal, body, originOf(request));
    if (!added) return reply.code(409).send(failureWith('There are as many devices as there may be. Remove one first.'));
    return reply.code(201).send(added);
  });

  const removing = { params: z.object({ id: z.string().max(64) }), response: { 200: Revoked, 404: Failure } };
  app.delete('/api/push/devices/:id', { schema: removing }, async ({ params: { id }, principal }, reply) => {
    const isTheirs = (await pushDevices.list(principal)).some((one) => one.id === id);
    return isTheirs && (await pushDevices.remove(id)) ? { revoked: true as const } : fail(reply, 'NOT_FOUND');
  });
};

/** Its address is judged when it is dialled, each time. */
function endpointProblem(endpoint: string, allowPrivate: readonly string[]): string | undefined {
  const url = URL.parse(endpoint);
  const place = url && `${url.hostname.replace(/^\[(.*)\]$/, '$1')}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
  const isOpened = url?.protocol === 'http:' && allowPrivate.includes(place!);
  if (!url || (url.protocol !== 'https:' && !isOpened)) return 'endpoint: an https address is expected';
  return url.username || url.password || url.hash ? 'endpoint: an address without a name, a password or a fragment is expected' : undefined;
}
