// Bundles the executor into one read-only folder that needs nothing but a Node binary:
//   packages/executor/dist/executor/{main.mjs, browser.mjs, search.mjs, chunks, session.bash, agent_skills, pty.node, playwright-core, defuddle.js}
import { copyFileSync, cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleOptions } from './bundle-options.mjs';
import { buildIfStale } from './source-stamp.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'packages/executor/src');
const outDir = join(root, 'packages/executor/dist/executor');
/** What driving a Chromium needs of `playwright-core`: not its recorder, its viewers and its other browsers. */
const PLAYWRIGHT_FILES = [
  ...['LICENSE', 'NOTICE', 'package.json', 'browsers.json', 'index.js'],
  ...['bootstrap.js', 'coreBundle.js', 'utilsBundle.js', 'utilsBundle.js.LICENSE'].map((name) => `lib/${name}`),
];

/** For `buildIfStale`. Whole packages: what the program imports from them changes more often than this list would. */
export const EXECUTOR = {
  paths: [
    ...['executor', 'protocol'].map((name) => join(root, 'packages', name, 'src')),
    import.meta.filename,
    join(root, 'scripts/bundle-options.mjs'),
    join(root, 'package-lock.json'),
  ],
  stampFile: join(outDir, '.stamp'),
  build: buildExecutor,
};

/** Safe to call at the same time from several processes. */
async function buildExecutor() {
  const { build } = await import('tsdown');
  const fresh = `${outDir}.${process.pid}`;
  rmSync(fresh, { recursive: true, force: true });
  await build({
    cwd: join(root, 'packages/executor'),
    ...bundleOptions,
    entry: { main: 'src/main.ts', browser: 'src/browser/host/main.ts', search: 'src/files/search/program/main.ts' },
    outDir: fresh,
    fixedExtension: true,
    inputOptions: { resolve: { conditionNames: ['tendon-source', 'node', 'import', 'default'] } },
    deps: { alwaysBundle: [/.*/], neverBundle: [/^node:/] },
  });
  const require = createRequire(join(root, 'packages/executor/package.json'));
  copyFileSync(require.resolve(`@lydell/node-pty-${process.platform}-${process.arch}/pty.node`), join(fresh, 'pty.node'));
  copyFileSync(join(source, 'shell/session.bash'), join(fresh, 'session.bash'));
  cpSync(join(source, 'plugins/agent_skills'), join(fresh, 'agent_skills'), {
    recursive: true,
    filter: (path) => !path.endsWith('__pycache__'),
  });
  copyBrowserParts(require, fresh);
  const old = `${outDir}.${process.pid}.old`;
  if (existsSync(outDir)) renameSync(outDir, old);
  renameSync(fresh, outDir);
  rmSync(old, { recursive: true, force: true });
}

/** As they are: Playwright finds its own files by their places, and the reader is sent to pages as one script. */
function copyBrowserParts(require, fresh) {
  const playwright = join(require.resolve('playwright-core/package.json'), '..');
  mkdirSync(join(fresh, 'playwright-core/lib'), { recursive: true });
  for (const name of PLAYWRIGHT_FILES) copyFileSync(join(playwright, name), join(fresh, 'playwright-core', name));
  copyFileSync(require.resolve('defuddle/full'), join(fresh, 'defuddle.js'));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await buildIfStale(EXECUTOR);
  process.stdout.write(`${outDir}\n`);
}
