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

const SECURE = /(?<!\w)(?:__require|globalThis\.process\.getBuiltinModule)\("(?:node:)?(https|http2|tls)"\)/g;
const WHOLE = /^(\s*(?:var|let|const) \w+ = )(.*);$/;

/**
 * Modules of Node that load TLS, and with it parse all root certificates (15 ms of processor time in a thread, 3 MiB). Servers and sockets of
 * others require them at once, and use them for connections that most processes never make: they are loaded at their first use.
 */
const lateTls = {
  name: 'late-tls',
  renderChunk(code) {
    let isUsed = false;
    const lines = code.split('\n').map((line) => {
      const [, taken, value] = WHOLE.exec(line) ?? [];
      if (value === undefined || value.replace(SECURE, '') !== '') return line;
      isUsed = true;
      return `${taken}${value.replace(SECURE, '__late("$1")')};`;
    });
    return isUsed ? `${LATE}\n${lines.join('\n')}` : null;
  },
};

const LATE = `function __late(name) {
	const of = (trap) => (_, ...rest) => Reflect[trap](globalThis.process.getBuiltinModule(name), ...rest);
	const get = (_, key) => globalThis.process.getBuiltinModule(name)[key];
	const set = (_, key, value) => Reflect.set(globalThis.process.getBuiltinModule(name), key, value);
	return new Proxy({}, { get, set, has: of("has"), ownKeys: of("ownKeys"), getOwnPropertyDescriptor: of("getOwnPropertyDescriptor") });
}`;

const LONG_PREFIX = 'const LONG_PREFIX_MIN_LENGTH = 16';

/**
 * Fastify's router makes a function from text for each short piece of a path, which no cache of compiled code holds: a twentieth of a server's
 * start. Its own way for long pieces serves all.
 */
const plainRoutes = {
  name: 'plain-routes',
  transform(code, id) {
    if (!id.endsWith('/find-my-way/lib/node.js')) return null;
    if (!code.includes(LONG_PREFIX)) throw new Error(`${id} has changed: see whether it still makes functions from text`);
    return code.replace(LONG_PREFIX, 'const LONG_PREFIX_MIN_LENGTH = 2');
  },
};

const COMPILERS = /\/@fastify\/(?:ajv-compiler|fast-json-stringify-compiler)\/index\.js$/;
const SEMVER = "const semver = require('semver')";
const LATE_SEMVER = `const semver = {${['satisfies', 'gt', 'coerce'].map((name) => `get ${name}() { return require('semver/functions/${name}') }`).join(', ')} }`;

/**
 * Every app is given the compilers of its schemas, so Fastify's own (ajv, fast-json-stringify: half a megabyte) have no place in a bundle; one that
 * is given none fails. What compares versions is loaded for a plugin that asks for one.
 */
const leanFastify = {
  name: 'lean-fastify',
  transform(code, id) {
    if (COMPILERS.test(id))
      return 'module.exports = () => { throw new Error("This app was given no compilers of schemas: pass zodCompilers.") }';
    if (!id.endsWith('/fastify/lib/plugin-utils.js')) return null;
    if (!code.includes(SEMVER)) throw new Error(`${id} has changed: see how it compares versions`);
    return code.replace(SEMVER, LATE_SEMVER);
  },
};

const BEYOND_ASCII = /[^\0-\x7f]/g;
const RAW_BEYOND_ASCII = /String\.raw`[^`]*[^\0-\x7f`]|(?<!\\)(?:\\\\)*\\[^\0-\x7f]/;

/**
 * Every character of a bundle is ASCII: V8 keeps a source with any other one in two bytes for each of its characters, and Node reads it by a slower
 * way. An escape means the same in strings, templates and expressions; where it would not, in raw templates and
 * behind a backslash, the build fails.
 */
const ascii = {
  name: 'ascii',
  // What is minified after `renderChunk` is printed anew.
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle).filter(({ type }) => type === 'chunk')) {
      if (RAW_BEYOND_ASCII.test(chunk.code))
        throw new Error(`${chunk.fileName} has a character beyond ASCII in a raw template or behind a backslash: write an escape`);
      chunk.code = chunk.code.replaceAll(BEYOND_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    }
  },
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
  plugins: [plainRoutes, leanFastify, leanImports, lateTls, ascii],
  // Licenses stay.
  outputOptions: { comments: { legal: true, jsdoc: false, annotation: false } },
};
