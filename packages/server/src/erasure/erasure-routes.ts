import { ErasureInfo, Failure } from '@tendon/protocol';
import { z } from 'zod';
import type { Principal } from '../platform/auth/identify.ts';
import type { Routes } from '../platform/http/app.ts';
import { fail } from '../platform/http/failure.ts';
import type { Erasures } from './erasures.ts';
import type { UserExportParts } from './user-export.ts';

interface ErasureContext extends UserExportParts {
  /** Unset where the server has no users. */
  readonly erasures: Erasures | undefined;
}

const params = z.object({ id: z.string().max(100) });

/** Export and erasure of a user's data. */
export const erasureRoutes: Routes<ErasureContext> = (app, context) => {
  const { access } = context;
  const known = (id: string) => access.users?.users().find((user) => user.id === id);

  app.get('/api/users/:id/export', { schema: { params } }, async ({ principal, params: { id } }, reply) => {
    const user = isAllowed(principal, id) ? known(id) : undefined;
    if (!user) return fail(reply, 'NOT_FOUND');
    const { exportOfUser } = await import('./user-export.ts');
    return reply
      .type('application/zip')
      .header('content-disposition', `attachment; filename="user-${id}.zip"`)
      .header('cache-control', 'no-store')
      .send(exportOfUser(user, context));
  });

  const erasing = { params, response: { 200: ErasureInfo, '4xx': Failure } };
  app.post('/api/users/:id/erase', { schema: erasing }, async ({ principal, params: { id } }, reply) => {
    if (!context.erasures || !known(id)) return fail(reply, 'NOT_FOUND');
    if (principal.userId === id) return fail(reply, 'ILLEGAL_STATE', 'nobody erases themselves');
    return context.erasures.erase(id);
  });
};

/** Users may export their own data, server admins anybody's. */
function isAllowed({ userId, scope, administersServer = false }: Principal, id: string): boolean {
  return userId === undefined ? scope === 'admin' : userId === id || (administersServer && scope === 'admin');
}
