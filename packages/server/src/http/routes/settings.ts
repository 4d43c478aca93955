import { Failure, Settings, SettingsUpdate } from '@tendon/protocol';
import { z } from 'zod';
import type { Routes } from '../context.ts';
import { fail, sendFailure } from '../failure.ts';

/** The user's stored settings; 404 until something was stored, which makes frontends ask for a model. */
export const settingsRoutes: Routes = (app, { engine }) => {
  app.get('/api/settings', { schema: { response: { 200: Settings, 404: Failure } } }, async (_request, reply) => {
    return engine.settings.current ?? fail(reply, 'SETTINGS_NOT_FOUND');
  });
  app.post(
    '/api/settings',
    { schema: { body: SettingsUpdate, response: { 200: z.object({ message: z.string() }), 400: Failure } } },
    async (request, reply) => {
      const error = await engine.settings.update(request.body);
      return error ? sendFailure(reply, error) : { message: 'Settings stored' };
    },
  );
};
