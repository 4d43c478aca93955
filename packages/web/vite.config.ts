import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const server = process.env.TENDON_SERVER ?? 'http://127.0.0.1:3000';

/** A smaller file is one packet anyway. */
const LEAST_BYTES = 1_024;

/** A `.br` and a `.gz` beside each file, written with it: compressed once here instead of with every request (CL595). */
const compressed: Plugin = {
  name: 'compressed',
  apply: 'build',
  generateBundle: {
    order: 'post',
    handler(_options, bundle) {
      for (const file of Object.values(bundle)) {
        const bytes = Buffer.from(file.type === 'chunk' ? file.code : file.source);
        if (bytes.length < LEAST_BYTES) continue;
        this.emitFile({ type: 'asset', fileName: `${file.fileName}.br`, source: brotliCompressSync(bytes) });
        const gzip = gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION });
        this.emitFile({ type: 'asset', fileName: `${file.fileName}.gz`, source: gzip });
      }
    },
  },
};

/** Which page a path shows: the files that it needs are fetched at once, not when the ones before them have been read (CL1004). */
const PAGES = { '^/$': 'pages/home/home-page.tsx', '^/conversations/': 'pages/conversation/conversation-page.tsx' };

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
      const pages = Object.entries(PAGES).map(([path, page]) => {
        const chunk = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(page))!;
        return [path, [...neededBy(chunk.fileName)].filter((name) => !first.has(name)).map((name) => `/${name}`)] as const;
      });
      const template = (name: string) => readFileSync(join(import.meta.dirname, 'public', name), 'utf8');
      const emit = (fileName: string, source: string) => this.emitFile({ type: 'asset', fileName, source });
      emit('first-paint.js', template('first-paint.js').replace('var pages = [];', `var pages = ${JSON.stringify(pages)};`));
      const styles = Object.keys(bundle).filter((name) => /^assets\/index-.*\.css$/.test(name));
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
  plugins: [react(), tailwindcss(), preloaded, compressed],
  resolve: { conditions: ['tendon-source', 'module', 'browser'] },
  build: { outDir: 'dist', emptyOutDir: true, target: 'es2022', assetsInlineLimit: 0, reportCompressedSize: true },
  server: {
    proxy: {
      '/api': { target: server },
      '/server_info': { target: server },
      '/socket.io': { target: server, ws: true },
      '/shell': { target: server, ws: true },
    },
  },
});
