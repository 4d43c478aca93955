// Builds the web app into `packages/web/dist`. Whether that is needed is for the caller to say (`build.mjs --if-stale web`).
import { join } from 'node:path';
import { build } from 'vite';
import { root } from './setup.mjs';

export async function buildWeb() {
  // A test may call this too; it serves the production build all the same.
  process.env.NODE_ENV = 'production';
  await build({ configFile: join(root, 'packages/web/vite.config.ts'), logLevel: 'warn' });
}
