import { z } from 'zod';
import type { Routes } from '../context.ts';
import { fail, sendJsonText } from '../failure.ts';

const PATHS = [
  '/api/user/info',
  '/api/user/repositories',
  '/api/user/installations',
  '/api/user/search/repositories',
  '/api/user/search/branches',
  '/api/user/repository/branches',
  '/api/user/repository/*',
  '/api/user/suggested-tasks',
  '/api/github/user',
  '/api/github/repositories',
  '/api/github/installations',
  '/api/github/search/repositories',
  '/api/github/suggested-tasks',
] as const;

/**
 * What a git provider knows of the user. Frontends ask only when a token is stored. Without one the answer is theirs of old, a
 * JSON string; with one it is said that this server does not ask providers yet.
 */
export const gitProviderUserRoutes: Routes = (app, { engine }) => {
  const responses = { 401: z.string(), 501: z.object({ detail: z.string(), error: z.string().optional() }) };
  for (const path of PATHS) {
    app.get(path, { schema: { response: responses } }, async (_request, reply) => {
      if (Object.keys(engine.providerTokens.set).length === 0) {
        return sendJsonText(reply.code(401), JSON.stringify('Git provider token required. (such as GitHub).')) as never;
      }
      return fail(reply, 'NOT_IMPLEMENTED', 'asking the git provider') as never;
    });
  }
};
