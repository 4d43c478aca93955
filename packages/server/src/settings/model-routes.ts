import { ModelList, ModelProbeInfo, ProbeRequest } from '@tendon/protocol';
import type { Routes } from '../platform/http/app.ts';
import type { KnownModels } from './known-models.ts';

/** Ours: what the models in use can do, and the question to an endpoint. */
export const modelRoutes: Routes<{ readonly knownModels: KnownModels }> = (app, { knownModels }) => {
  app.get('/api/models', { schema: { response: { 200: ModelList } } }, async () => ({ models: [...(await knownModels.list())] }));
  app.post('/api/models/probe', { schema: { body: ProbeRequest, response: { 200: ModelProbeInfo } } }, ({ body }) =>
    knownModels.probe(body.model),
  );
};
