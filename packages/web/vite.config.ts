import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import tailwindcss from '@tailwindcss/vite';
import { defineConfig, type Plugin } from 'vite';

const server = process.env.TENDON_SERVER ?? 'http://127.0.0.1:3000';

/** A smaller file is one packet anyway. */
const LEAST_BYTES = 1_024;

/** Which page a path shows, and the most that its files may be, compressed: what comes later goes with the popup or panel that needs it. */
const PAGES = {
  '^/$': { page: 'pages/home/home-page.tsx', maxBytes: 60_000 },
  '^/conversations/': { page: 'pages/conversation/conversation-page.tsx', maxBytes: 140_000 },
};

const within = (...places: string[]) => new RegExp(`/(?:${places.join('|')})`);

/**
 * What the pages share comes in two files, one for every page and one for what shows a conversation. Cut by who shares what, it would be
 * twenty: each with headers of half a kilobyte, and with words that the others have too.
 */
const SHARED = [
  {
    name: 'common',
    minShareCount: 1,
    test: within(
      String.raw`web/src/(?:ui|copy/(?!notice-words|command-effects|reason-words|rule-words)|app/(?!show-waiting)|lib/(?!shared-list|save-blob|push-device|language/(?:translator|.*\.json)))`,
      String.raw`web/src/(?:composer/(?:choices|attachments|suggestions|composer\.)|conversation/open-|pages/(?:status-bar|settings-link|who-am-i))`,
      'client/src/(?:rest|create-rest|new-id)|protocol/src/(?:agent-state|rest)',
      'node_modules/(?:preact|react|react-dom|lucide-react|@tanstack/(?:query-core|react-query))/|preload-helper',
    ),
  },
  // Of what waits for a person, which Home shows once it is there.
  { name: 'questions', minShareCount: 2, test: within('web/src/copy/(?:command-effects|reason-words|rule-words)') },
  {
    name: 'conversation',
    minShareCount: 2,
    test: within(
      'web/src/(?:(?:stream|code|conversation|composer)/|copy/reason-words|pages/conversation/use-(?:workbench|connection))',
      'web/src/(?:workbench/(?:workbench|use-served|is-executed|changes/(?:changed-count|use-review)|terminal/(?:terminal-hold|taken-terminal))|lib/shared-list)',
      'client/src/(?:connection|actions)|protocol/src/(?:event|kind-shapes|read-shape|codec|reduce|partial-answer|answered-by)',
      String.raw`node_modules/(?:marked|diff|@socket\.io|(?:socket|engine)\.io-(?:client|parser)|@tanstack/(?:react-virtual|virtual-core))/`,
    ),
  },
].map((group) => ({ ...group, includeDependenciesRecursively: false }));

/** What each path needs, for the bound of its page. */
const filesOf = new Map<keyof typeof PAGES, readonly string[]>();

/** A `.br` and a `.gz` beside each file, written with it: compressed once here instead of with every request (CL595). */
const compressed: Plugin = {
  name: 'compressed',
  apply: 'build',
  generateBundle: {
    order: 'post',
    handler(_options, bundle) {
      const sent = new Map<string, number>();
      for (const file of Object.values(bundle)) {
        const bytes = Buffer.from(file.type === 'chunk' ? file.code : file.source);
        if (bytes.length < LEAST_BYTES) continue;
        const brotli = brotliCompressSync(bytes);
        sent.set(file.fileName, brotli.length);
        this.emitFile({ type: 'asset', fileName: `${file.fileName}.br`, source: brotli });
        const gzip = gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION });
        this.emitFile({ type: 'asset', fileName: `${file.fileName}.gz`, source: gzip });
      }
      for (const [path, files] of filesOf) {
        const { page, maxBytes } = PAGES[path];
        const bytes = files.reduce((sum, name) => sum + (sent.get(name) ?? LEAST_BYTES), 0);
        if (bytes > maxBytes) this.error(`${page} needs ${bytes} bytes, compressed; ${maxBytes} are allowed (PAGES in vite.config.ts)`);
      }
    },
  },
};

/** The files that a page needs are fetched at once, not when the ones before them have been read (CL1004). */
const preloaded: Plugin = {
  name: 'preloaded',
  apply: 'build',
  generateBundle: {
    order: 'post',
    handler(_options, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
      const entry = chunks.find((chunk) => chunk.isEntry)!;
      const neededBy = (name: string, found = new Set<string>()): ReadonlySet<string> => {
        if (found.has(name)) return found;
        found.add(name);
        for (const other of chunks.find(({ fileName }) => fileName === name)?.imports ?? []) neededBy(other, found);
        return found;
      };
      const first = neededBy(entry.fileName);
      const common = chunks.find(({ name }) => name === 'common')!;
      const strangers = [...neededBy(common.fileName)].filter((name) => !/(?:common|rolldown-runtime)-[^/]+$/.test(name));
      // It would run before what it needs.
      if (strangers.length > 0) this.error(`the file of all pages needs ${strangers.join(', ')}: add what it needs of it to SHARED`);
      const styles = Object.keys(bundle).filter((name) => /^assets\/index-.*\.css$/.test(name));
      const pages = (Object.keys(PAGES) as (keyof typeof PAGES)[]).map((path) => {
        const chunk = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(PAGES[path].page))!;
        const own = [...neededBy(chunk.fileName)].filter((name) => !first.has(name));
        filesOf.set(path, [...first, ...styles, ...own]);
        return [path, own.map((name) => `/${name}`)] as const;
      });
      const template = (name: string) => readFileSync(join(import.meta.dirname, 'public', name), 'utf8');
      const emit = (fileName: string, source: string) => this.emitFile({ type: 'asset', fileName, source });
      emit('first-paint.js', template('first-paint.js').replace('var pages = [];', `var pages = ${JSON.stringify(pages)};`));
      const shell = [...new Set([...first, ...styles].map((name) => `/${name}`).concat(...pages.map(([, names]) => names)))];
      const build = createHash('sha256').update(shell.join('\n')).digest('hex').slice(0, 16);
      emit(
        'sw.js',
        template('sw.js')
          .replace("'development'", `'${build}'`)
          .replace('const SHELL = [];', `const SHELL = ${JSON.stringify(shell)};`),
      );
    },
  },
};

export default defineConfig({
  root: import.meta.dirname,
  plugins: [tailwindcss(), preloaded, compressed],
  resolve: { conditions: ['tendon-source', 'module', 'browser'] },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    reportCompressedSize: true,
    rolldownOptions: {
      output: { codeSplitting: { groups: SHARED } },
      // Libraries mark what runs in browsers; all of this does.
      onLog: (level, log, report) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && report(level, log),
    },
  },
  server: {
    proxy: {
      '/api': { target: server },
      '/server_info': { target: server },
      '/socket.io': { target: server, ws: true },
      '/shell': { target: server, ws: true },
    },
  },
});
