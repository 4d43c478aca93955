import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Microagent, SkillFile } from '@tendon/core/knowledge';
import { readSmall } from './read-small.ts';

const MAX_SKILLS = 100;
const MAX_FILES = 64;
const MAX_TOTAL_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 4;

/** Those of the server's own user: `<home>/skills/<name>/SKILL.md`, by name. One that cannot be read is left out, and reported. */
export async function userSkills(home: string, onProblem: (problem: string) => void): Promise<Microagent[]> {
  const folder = join(home, 'skills');
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.flatMap((entry) => (entry.isDirectory() && !entry.name.startsWith('.') ? [entry.name] : []));
  if (names.length === 0) return [];
  const { parseMicroagent, toSkill } = await import('@tendon/core/knowledge');
  const found: Microagent[] = [];
  for (const name of names.toSorted().slice(0, MAX_SKILLS)) {
    const path = join(folder, name, 'SKILL.md');
    try {
      const parsed = parseMicroagent(name, (await readSmall(path)).toString('utf8'));
      if (parsed.problem) onProblem(`${path}: ${parsed.problem}`);
      const place = { folder: `.tendon/skills/${name.replaceAll(/[^\w.-]/g, '_')}`, files: () => filesOf(join(folder, name)) };
      found.push(toSkill(parsed, place));
    } catch (error) {
      onProblem(`${path}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return found;
}

/** What lies beside its `SKILL.md`; rejects when that is more than goes into a sandbox. Links are not followed. */
async function filesOf(folder: string): Promise<readonly SkillFile[]> {
  const files: SkillFile[] = [];
  let total = 0;
  async function walk(below: string, depth: number): Promise<void> {
    for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory() && depth < MAX_DEPTH) await walk(path, depth + 1);
      if (!entry.isFile()) continue;
      const bytes = await readSmall(join(folder, path));
      total += bytes.length;
      files.push({ path, bytes });
      if (files.length > MAX_FILES) throw new Error(`the skill has more than ${MAX_FILES} files`);
      if (total > MAX_TOTAL_BYTES) throw new Error(`the skill is larger than ${MAX_TOTAL_BYTES} bytes`);
    }
  }
  await walk('', 0);
  return files;
}
