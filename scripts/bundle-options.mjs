// How everything that Node runs is bundled: one start reads a few files, not a thousand.
import { leanHttp } from './lean-http.mjs';

export const bundleOptions = {
  config: false,
  format: 'esm',
  platform: 'node',
  target: 'node22.18',
  dts: false,
  sourcemap: false,
  minify: 'dce-only',
  clean: false,
  logLevel: 'warn',
  plugins: [leanHttp],
};
