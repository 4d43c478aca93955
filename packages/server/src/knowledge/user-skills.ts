import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Microagent, SkillFile } from '@tendon/core/knowledge';
import { enabledPlugins } from '../extensions/installed-plugins.ts';
import { readSmall } from './read-small.ts';

const MAX_SKILLS = 100;
const MAX_FILES = 64;
const MAX_TOTAL_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 4;

/** Those of the server's own user, then those of the enabled plugins: the first of a name counts. */
export async function installedSkills(home: string, onProblem: (problem: string) => void): Promise<Microagent[]> {
  const found = await userSkills(home, onProblem);
  const names = new Set(found.map(({ name }) => name));
  for (const { id, skillsIn } of await enabledPlugins(home)) {
    for (const skill of skillsIn === undefined ? [] : await skillsOf(skillsIn, `.tendon/plugins/${safe(id)}`, onProblem)) {
      if (names.has(skill.name)) onProblem(`The plugin ${id}: the skill ${skill.name} does not count: there is another one of that name`);
      else found.push(skill);
      names.add(skill.name);
    }
  }
  return found;
}

/** Those of the server's own user: `<home>/skills/<name>/SKILL.md`, by name. One that cannot be read is left out, and reported. */
function userSkills(home: string, onProblem: (problem: string) => void): Promise<Microagent[]> {
  return skillsOf(home, '.tendon/skills', onProblem);
}

/** `place`: where their files are put in the sandbox. */
async function skillsOf(parent: string, place: string, onProblem: (problem: string) => void): Promise<Microagent[]> {
  const folder = join(parent, 'skills');
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
      found.push(toSkill(parsed, { folder: `${place}/${safe(name)}`, files: () => filesOf(join(folder, name)) }));
    } catch (error) {
      onProblem(`${path}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return found;
}

function safe(name: string): string {
  return name.replaceAll(/[^\w.-]/g, '_');
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
