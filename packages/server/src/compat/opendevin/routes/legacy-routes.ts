import type { Routes } from '../../../platform/http/app.ts';
import type { ServerContext } from '../../../app/context.ts';
import { catalogRoutes } from './catalog-routes.ts';
import { fileRoutes } from './file-routes.ts';
import { forwardedRoutes } from './forwarded-routes.ts';
import { messageRoutes } from './message-routes.ts';
import { taskRoutes } from './task-routes.ts';
import { tokenRoutes } from './token-routes.ts';
import { uploadRoutes } from './upload-routes.ts';

/** REST beside `/ws`, March to November 2024: no conversation in the path, the token says which is meant. */
export const legacyRoutes: Routes<ServerContext> = (app, context) => {
  for (const routes of [tokenRoutes, catalogRoutes, messageRoutes, taskRoutes, fileRoutes, uploadRoutes, forwardedRoutes])
    routes(app, context);
};
