// Builds the web app into `packages/web/dist`. Whether that is needed is for the caller to say (`build.mjs --if-stale web`).
import { join } from 'node:path';
import { build } from 'vite';
import { root } from './setup.mjs';

export async function buildWeb() {
  // Whoever calls may be a test: what is served is the production build all the same.
  process.env.NODE_ENV = 'production';
  await build({ configFile: join(root, 'packages/web/vite.config.ts'), logLevel: 'warn' });
}
