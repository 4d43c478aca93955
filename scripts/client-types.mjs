// Writes the types of the SDK, which need no other package: those of the client and of the part of the protocol that it names, and zod's,
// in whose terms the protocol's are written.
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { nodeBinary } from './node-binary.mjs';
import { root } from './setup.mjs';

const ENTRIES = ['packages/client/src/index.ts', 'packages/protocol/src/index.ts', 'packages/protocol/src/reduce.ts'];
const SOURCE = /(from |import\()(['"])([^'"]+)\2/g;

/** Into a folder of their own; `client/src/index.d.ts` is where they begin. */
export function writeClientTypes(target) {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const config = join(target, 'tsconfig.json');
  writeFileSync(config, JSON.stringify(tsconfigFor(target)));
  const { status, stdout } = spawnSync(nodeBinary(root), [join(root, 'node_modules/typescript/bin/tsc'), '-p', config], {
    encoding: 'utf8',
  });
  rmSync(config);
  if (status !== 0) throw new Error(`The types of the SDK cannot be written:\n${stdout}`);
  cpSync(join(root, 'node_modules/zod/v4'), join(target, 'zod'), {
    recursive: true,
    filter: (path) => /\/(?!mini$)[^./]+$|\.d\.ts$/.test(path),
  });
  cpSync(join(root, 'node_modules/zod/LICENSE'), join(target, 'zod/LICENSE'));
  const places = {
    '@tendon/protocol': 'protocol/src/index.js',
    '@tendon/protocol/reduce': 'protocol/src/reduce.js',
    zod: 'zod/index.js',
    'zod/v4/core': 'zod/core/index.js',
  };
  for (const file of globSync('{client,protocol}/**/*.d.ts', { cwd: target })) {
    const to = (path) => `./${relative(dirname(file), path)}`.replace(/^\.\/\.\./, '..');
    const text = readFileSync(join(target, file), 'utf8').replace(SOURCE, (_, before, quote, name) => {
      if (!name.startsWith('.') && !places[name]) throw new Error(`${file} names ${name}, whose types are not shipped`);
      return `${before}${quote}${places[name] ? to(places[name]) : name.replace(/\.ts$/, '.js')}${quote}`;
    });
    writeFileSync(join(target, file), text);
  }
}

function tsconfigFor(outDir) {
  return {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      ...{ noEmit: false, declaration: true, emitDeclarationOnly: true, rewriteRelativeImportExtensions: true, stripInternal: true },
      ...{ outDir, rootDir: join(root, 'packages'), types: [], lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable'] },
    },
    include: ENTRIES.map((path) => join(root, path)),
    exclude: [],
  };
}
