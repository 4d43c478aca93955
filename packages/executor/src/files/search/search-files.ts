import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shellQuote } from '@tendon/protocol/executor-api';
import { ownNode } from '../../processes/own-node.ts';
import { killGroup, spawnDetached, type DetachedOptions } from '../../shell/detached-process.ts';
import type { Place } from '../../shell/shell-memory.ts';
import { EditFailure } from '../failures.ts';
import { grepText, globText, type Found } from './search-text.ts';
import type { SearchRequest } from './search-request.ts';

export type SearchFiles = (
  path: string,
  search: Pick<SearchRequest, 'kind' | 'pattern' | 'include'>,
  signal: AbortSignal,
) => Promise<string>;

const DEADLINE_MS = 30_000;
/** Of what a search prints; it is ended then. */
const MAX_PRINTED_BYTES = 8 * 1024 * 1024;
const MAX_WORDS = 2_000;
/** Of ripgrep and of our own program: the search could not be made. */
const EXIT_FAILED = 2;

/** Searches as a program of the agent's: it sees what they see, and can be ended. Throws `EditFailure`. */
export function createSearchFiles(shell: () => Promise<{ readonly place: () => Place; readonly detached: DetachedOptions }>): SearchFiles {
  return async (path, { kind, pattern, include }, signal) => {
    if (pattern === '') throw new EditFailure('The pattern is empty.');
    if (`${pattern}${include ?? ''}`.includes('\0')) throw new EditFailure('A pattern holds no NUL character.');
    const isFolder = (await stat(path)).isDirectory();
    const request = { kind, pattern, target: isFolder ? '.' : basename(path), ...(include && { include }) };
    const folder = isFolder ? path : dirname(path);
    const found = await run(await shell(), folder, commandOf(request), signal);
    if (found.code === EXIT_FAILED && found.printed.length === 0)
      throw new EditFailure(`Nothing was searched: ${found.words || 'the search failed'}`);
    return (kind === 'grep' ? grepText : globText)(found, { path, pattern });
  };
}

/** ripgrep where there is one: it is quicker. Both print the same. */
function commandOf(request: SearchRequest): string {
  const own = ['exec', ...[...ownNode(), programFile(), JSON.stringify(request)].map(shellQuote)].join(' ');
  if (request.kind === 'glob') return own;
  const { pattern, include, target } = request;
  const options = [
    '--no-config',
    '--no-require-git',
    '--no-ignore-global',
    '--hidden',
    '--glob=!.git',
    '--sort=path',
    '--max-columns=1000',
  ];
  const shape = ['--max-columns-preview', '--crlf', '--color=never', '--no-heading', '--with-filename', '--line-number', '--null'];
  const words = [...options, ...shape, ...(include ? [`--glob=${include}`] : []), `--regexp=${pattern}`, '--', target];
  return `if command -v rg >/dev/null; then exec rg ${words.map(shellQuote).join(' ')}; fi; ${own}`;
}

function programFile(): string {
  const built = fileURLToPath(new URL('search.mjs', import.meta.url));
  return existsSync(built) ? built : fileURLToPath(new URL('program/main.ts', import.meta.url));
}

async function run(
  { place, detached }: { readonly place: () => Place; readonly detached: DetachedOptions },
  folder: string,
  command: string,
  signal: AbortSignal,
): Promise<Found & { readonly code: number | null; readonly words: string }> {
  const child = spawnDetached(detached, place(), command, folder, 'pipe');
  const end = (): void => killGroup(child, 'SIGKILL');
  let ended: Found['ended'];
  const timer = setTimeout(() => {
    ended ??= 'time';
    end();
  }, DEADLINE_MS);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  const [chunks, words] = [[] as Buffer[], [] as string[]];
  let bytes = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MAX_PRINTED_BYTES) return void chunks.push(chunk);
    ended ??= 'size';
    end();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => words.push(text.slice(0, MAX_WORDS)));
  const code = await closed(child);
  clearTimeout(timer);
  signal.removeEventListener('abort', end);
  if (signal.aborted) throw new EditFailure('The search was cancelled.');
  return { printed: Buffer.concat(chunks).toString('utf8'), ended, code, words: words.join('').slice(0, MAX_WORDS).trim() };
}

function closed(child: ReturnType<typeof spawnDetached>): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
}
