import { readdirSync, type Dirent } from 'node:fs';
import { join } from 'node:path';
import { isIgnored, rulesAbove, rulesIn, type IgnoreRules } from './ignore-rules.ts';

/** The files below a folder, by name, without what ignore files name and what git keeps for itself. Links are not followed. */
export function* walk(root: string): Generator<string> {
  yield* below(root, rulesAbove(root));
}

function* below(folder: string, above: readonly IgnoreRules[]): Generator<string> {
  const own = rulesIn(folder);
  const rules = own.rules.length > 0 ? [...above, own] : above;
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    const isFolder = entry.isDirectory();
    if (entry.name === '.git' || (!isFolder && !entry.isFile()) || isIgnored(path, isFolder, rules)) continue;
    if (isFolder) yield* below(path, rules);
    else yield path;
  }
}

/** What cannot be read is empty. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}
