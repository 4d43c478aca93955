import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import type { PreviewSite } from '../platform/preview-site.ts';

/** Smallest first. */
export const ENCODINGS = ['br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

export interface WebFile {
  readonly path: string;
  readonly type: string;
  /** Where the same file lies compressed, made by the build. */
  readonly encoded: { readonly [E in Encoding]?: string };
}

/** The built web app. Only files found when it was opened are served: no path of a request ever reaches the disk. */
export interface WebFiles {
  /** By URL path, e.g. `/assets/index-1a2b.js`. */
  readonly files: ReadonlyMap<string, WebFile>;
  /** `Content-Security-Policy` of a page that may speak to these servers too; its inline scripts are allowed by hash. */
  readonly policy: (servers: readonly string[]) => string;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
  '.ttf': 'font/ttf',
  '.wav': 'audio/wav',
  '.mp3': 'audio/mpeg',
  '.mjs': 'text/javascript; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
};

/** Beside the bundle when published, in the workspace of the web package otherwise. */
export function findWebRoot(from: string): string | undefined {
  const places = ['web', '../web', '../../web/dist', '../../../web/dist', '../../../../packages/web/dist'];
  return places.map((place) => join(from, place)).find((place) => existsSync(join(place, 'index.html')));
}

/** A frontend that is not ours is the operator's choice, whatever it loads; it is still no part of other pages. */
const FOREIGN_POLICY = "object-src 'none'; frame-ancestors 'none'";

/** `undefined` when nothing is built at `root`. */
export async function openWebFiles(root: string | undefined, previews: PreviewSite, isForeign = false): Promise<WebFiles | undefined> {
  if (root === undefined) return undefined;
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = new Set(entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)));
  const files = new Map<string, WebFile>();
  for (const path of paths) {
    const [br, gzip] = [`${path}.br`, `${path}.gz`].map((beside) => (paths.has(beside) ? beside : undefined));
    files.set(`/${relative(root, path).split(sep).join('/')}`, {
      path,
      type: TYPES[extname(path)] ?? 'application/octet-stream',
      encoded: { ...(br && { br }), ...(gzip && { gzip }) },
    });
  }
  const page = files.get('/index.html');
  return page && { files, policy: isForeign ? () => FOREIGN_POLICY : contentPolicy(await readFile(page.path, 'utf8'), previews) };
}

/** Previews of what agents build are shown in frames, from their own origin. */
function contentPolicy(html: string, { scheme, domain }: PreviewSite): WebFiles['policy'] {
  const inline = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, code]) => `'sha256-${createHash('sha256').update(code!).digest('base64')}'`,
  );
  const sources = (servers: readonly string[]): string => ["'self'", 'ws:', 'wss:', ...servers].join(' ');
  return (servers) =>
    [
      "default-src 'self'",
      `script-src ${["'self'", ...inline].join(' ')}`,
      "style-src 'self' 'unsafe-inline'",
      "img-src 'self' data: blob:",
      "font-src 'self' data:",
      `connect-src ${sources(servers)}`,
      "worker-src 'self' blob:",
      `frame-src ${scheme}://*.${domain}:*`,
      "object-src 'none'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
    ].join('; ');
}
