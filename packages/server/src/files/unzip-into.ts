import { posix } from 'node:path';
import type { Runtime } from '@tendon/core';
import { readZip } from './read-zip.ts';
import { shellQuote } from '@tendon/protocol/executor-api';
import { runSandboxCommand } from '../sandboxes/sandbox-command.ts';

const WRITE_MS = 60_000;
const FOLDERS_AT_ONCE = 100;

/** Puts what a zip holds into a folder of the sandbox. Nothing is written when any entry is not fit. Rejects with a user-facing error. */
export async function unzipInto(runtime: Runtime, folder: string, zip: Buffer, now: Date): Promise<void> {
  const entries = readZip(zip);
  // Unpacked twice, so that a last entry that is damaged does not leave the first ones behind.
  for (const { read } of entries) await read();
  const folders = entries.filter(({ name }) => name.endsWith('/')).map(({ name }) => posix.join(folder, name));
  for (let start = 0; start < folders.length; start += FOLDERS_AT_ONCE) {
    const words = folders.slice(start, start + FOLDERS_AT_ONCE).map(shellQuote);
    const made = await runSandboxCommand(runtime, `mkdir -p -- ${words.join(' ')}`, {
      ...{ cwd: runtime.workspace, timeoutSeconds: 20, maxBytes: 4096, now },
    });
    if (made.exitCode !== 0) throw new Error(`the folders could not be made: ${made.text.trim().slice(0, 300)}`);
  }
  for (const { name, read } of entries) {
    if (name.endsWith('/')) continue;
    await runtime.files.write(posix.join(folder, name), await read(), { signal: AbortSignal.timeout(WRITE_MS) });
  }
}
