import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import type { BrowserContext, Download, Page } from 'playwright-core';
import { reasonOf } from '../../action-handler.ts';
import { within } from './within.ts';

export interface DownloadedFile {
  readonly path: string;
  readonly bytes: number;
  readonly url: string;
}

/** Files that pages give. Owns the folder `.downloads` of the workspace. */
export interface Downloads {
  /** Whether one has begun or ended since it was taken last. */
  readonly hasNew: boolean;
  /** What has arrived since last time; waits for what is under way, up to the deadline. */
  take(deadlineMs: number, signal: AbortSignal): Promise<readonly DownloadedFile[]>;
}

const MAX_BYTES = 1024 * 1024 * 1024;
const WATCH_MS = 500;

export function createDownloads(
  context: BrowserContext,
  { workspace, incoming, note }: { readonly workspace: string; readonly incoming: string; readonly note: (text: string) => void },
): Downloads {
  const folder = join(workspace, '.downloads');
  const running = new Set<Promise<void>>();
  let arrived: DownloadedFile[] = [];

  function watch(page: Page): void {
    page.on('download', (download) => {
      const done = keep(download).catch((error: unknown) =>
        note(`The download of ${download.url().slice(0, 300)} failed: ${firstLine(error)}`),
      );
      running.add(done);
      void done.finally(() => running.delete(done));
    });
  }
  context.pages().forEach(watch);
  context.on('page', watch);

  async function keep(download: Download): Promise<void> {
    const guard = setInterval(() => {
      if (bytesIn(incoming) <= MAX_BYTES) return;
      note(`A download of more than ${MAX_BYTES / 1024 ** 3} GiB was stopped.`);
      void download.cancel();
    }, WATCH_MS);
    try {
      const failure = await download.failure();
      if (failure !== null) throw new Error(failure);
      const path = freePath(folder, download.suggestedFilename());
      await download.saveAs(path);
      await download.delete();
      arrived.push({ path, bytes: statSync(path).size, url: download.url() });
    } finally {
      clearInterval(guard);
    }
  }

  return {
    get hasNew() {
      return running.size + arrived.length > 0;
    },
    async take(deadlineMs, signal) {
      await within(deadlineMs, Promise.all(running), signal).catch(() =>
        note('A download is still under way; a later action reports when it has arrived.'),
      );
      const taken = arrived;
      arrived = [];
      return taken;
    },
  };
}

/** A name of its own in the folder, which no repository takes up. */
function freePath(folder: string, suggested: string): string {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, '.gitignore'))) writeFileSync(join(folder, '.gitignore'), '*\n');
  const name =
    basename(suggested)
      .replaceAll(/[^\p{L}\p{N} ._()+-]/gu, '_')
      .replace(/^\.+/, '')
      .slice(-120) || 'file';
  const end = extname(name);
  for (let count = 0; ; count += 1) {
    const path = join(folder, count === 0 ? name : `${name.slice(0, name.length - end.length)}-${count}${end}`);
    if (!existsSync(path)) return path;
  }
}

function bytesIn(folder: string): number {
  try {
    return readdirSync(folder).reduce((sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0);
  } catch {
    return 0;
  }
}

function firstLine(error: unknown): string {
  return reasonOf(error).split('\n')[0]!.slice(0, 300);
}
