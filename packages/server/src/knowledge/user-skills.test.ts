import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../server.test-support.ts';
import { installedSkills } from './user-skills.ts';

it('EN806: skills of the user are folders with a SKILL.md, read within bounds, and what is wrong with one is reported', async () => {
  const home = temporaryFolder();
  const problems: string[] = [];
  const read = () => installedSkills(home, (problem) => problems.push(problem));
  expect(await read()).toEqual([]);
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(home, 'skills', path)), { recursive: true });
    writeFileSync(join(home, 'skills', path), text);
  };
  put('good/SKILL.md', '---\nname: good\ndescription: |\n  Two\n  lines.\n---\nText.');
  put('good/a/b.txt', 'b');
  symlinkSync('/etc/hostname', join(home, 'skills/good/link'));
  put('empty/README.md', 'no');
  put('many/SKILL.md', 'Text.');
  for (let n = 0; n < 65; n++) put(`many/${n}.txt`, '');
  put('link/x', '');
  symlinkSync('/etc/hostname', join(home, 'skills/link/SKILL.md'));
  const [good, many, ...more] = await read();
  expect(more).toEqual([]);
  expect(good).toMatchObject({ name: 'good', type: 'knowledge', triggers: ['/good'], skill: { description: 'Two lines.' } });
  expect((await good!.skill!.files!()).map(({ path }) => path).toSorted()).toEqual(['SKILL.md', 'a/b.txt']);
  await expect(many!.skill!.files!()).rejects.toThrow('more than 64 files');
  expect(problems).toEqual([expect.stringContaining('empty/SKILL.md: ENOENT'), expect.stringContaining('link/SKILL.md: ELOOP')]);
});
