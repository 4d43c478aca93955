import { readFileSync } from 'node:fs';

/** What this program was started with, up to its file: in an image of somebody else's Node runs through a loader of ours. */
export function ownNode(): readonly string[] {
  const words = readFileSync('/proc/self/cmdline', 'utf8').split('\0');
  const at = words.indexOf(process.argv[1] ?? '');
  return at > 0 ? words.slice(0, at) : [process.execPath, ...process.execArgv];
}
