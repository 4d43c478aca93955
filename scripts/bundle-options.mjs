// How everything that Node runs is bundled: one start reads a few files, not a thousand.
import http from 'node:http';

const LEAN = '\0lean:node:http';
const isPlain = ([, { get }]) => get === undefined;
const names = Object.entries(Object.getOwnPropertyDescriptors(http))
  .filter(isPlain)
  .map(([name]) => name);

/**
 * What a bundle imports of `node:http` it gets without the module's namespace: to make that, Node reads every getter, and those of
 * the browser's classes (`WebSocket`, …) load the whole of Node's fetch. That is 40 ms of each start, of every sandbox too.
 */
const leanHttp = {
  name: 'lean-http',
  resolveId: {
    order: 'pre',
    handler: (id, _importer, { kind }) =>
      id === 'node:http' && kind === 'import-statement' ? { id: LEAN, moduleSideEffects: false } : null,
  },
  load: (id) =>
    id === LEAN
      ? `const http = process.getBuiltinModule('node:http');\nexport default http;\nexport const { ${names.join(', ')} } = http;\n`
      : null,
};

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
