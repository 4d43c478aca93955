// How everything that Node runs is bundled: one start reads a few files, not a thousand.

const IMPORT = /^import (?:(\w+)(?:, )?)?(?:\{([^}]*)\})? ?from "(node:[\w/]+)";$/gm;

/**
 * What a bundle imports of Node it takes from the module itself, not from its namespace: to make that, Node reads every getter. Those of
 * `node:http` load the whole of Node's fetch (40 ms of each start, of every sandbox too), the others together take 2 to 3 ms.
 */
const leanImports = {
  name: 'lean-imports',
  renderChunk: (code) =>
    code.replaceAll(IMPORT, (_, whole, names, module) =>
      [whole, names && `{${names.replaceAll(' as ', ': ')}}`]
        .filter(Boolean)
        .map((taken) => `const ${taken} = globalThis.process.getBuiltinModule("${module}");`)
        .join('\n'),
    ),
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
  plugins: [leanImports],
};
