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

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss(), compressed],
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
