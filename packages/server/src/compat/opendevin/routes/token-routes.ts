import { randomUUID } from 'node:crypto';
import { catalogError, Failure, TokenAnswer } from '@tendon/protocol';
import { signToken } from '../../../platform/auth/token.ts';
import { WsSessions } from '../sockets/ws-sessions.ts';
import type { Routes } from '../../../platform/http/app.ts';
import { sendFailure } from '../../../platform/http/failure.ts';
import { readBearer, type BearerContext } from './bearer.ts';

/** Tokens of opendevin-2024-04 to opendevin-2024-06: a good old one keeps its session. `/auth` is how the first days called it. */
export const tokenRoutes: Routes<BearerContext> = (app, context) => {
  for (const url of ['/api/auth', '/auth']) {
    app.get(url, { schema: { response: { 200: TokenAnswer, '4xx': Failure } } }, async (request, reply) => {
      const bearer = await readBearer(request, context);
      if (bearer.state === 'absent')
        return sendFailure(reply, { ...catalogError('UNAUTHORIZED'), status: 403, message: 'Not authenticated' });
      const sid = bearer.state === 'session' ? bearer.sid : randomUUID();
      const sessions = WsSessions.of(context);
      sessions.reload(sid);
      await sessions.change(sid, (record) => (record.isFromAuth ? record : { ...record, isFromAuth: true }));
      return { token: await signToken(sid, context.jwtSecret), status: 'ok' as const };
    });
  }
  /** opendevin-2024-11 asks at load whether somebody is logged in; who got here may be. */
  app.post('/api/authenticate', { schema: { hide: true } }, async () => ({ message: 'User authenticated' }));
};
