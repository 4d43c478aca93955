import type { Routes } from '../../../platform/http/app.ts';
import { catalogRoutes, type CatalogContext } from './catalog-routes.ts';
import { fileRoutes, type FileContext } from './file-routes.ts';
import { forwardedRoutes } from './forwarded-routes.ts';
import { messageRoutes } from './message-routes.ts';
import { taskRoutes } from './task-routes.ts';
import { tokenRoutes } from './token-routes.ts';
import { uploadRoutes, type UploadContext } from './upload-routes.ts';

/** REST beside `/ws`, March to November 2024: no conversation in the path, the token says which is meant. */
export const legacyRoutes: Routes<CatalogContext & FileContext & UploadContext> = (app, context) => {
  for (const routes of [tokenRoutes, catalogRoutes, messageRoutes, taskRoutes, fileRoutes, uploadRoutes, forwardedRoutes])
    routes(app, context);
};
