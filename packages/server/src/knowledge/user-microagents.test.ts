import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../server.test-support.ts';
import { userMicroagents } from './user-microagents.ts';

it('EN124: microagents of the user are the Markdown files of one folder, and what is wrong with one is reported', async () => {
  const home = temporaryFolder();
  const problems: string[] = [];
  const read = () => userMicroagents(home, (problem) => problems.push(problem));
  expect(await read()).toEqual([]);
  const put = (name: string, text: string) => writeFileSync(join(home, 'microagents', name), text);
  mkdirSync(join(home, 'microagents'));
  mkdirSync(join(home, 'microagents/folder.md'));
  symlinkSync('/etc/hostname', join(home, 'microagents/link.md'));
  put('a.md', '---\ntriggers: [tabs]\n---\nNo tabs.');
  put('bad.md', '---\n: [\n---\nText.');
  put('huge.md', 'x'.repeat(300 * 1024));
  put('notes.txt', 'no');
  expect(await read()).toMatchObject([
    { name: 'a', type: 'knowledge', content: 'No tabs.' },
    { name: 'bad', type: 'repo', content: 'Text.' },
  ]);
  expect(problems).toEqual([expect.stringContaining('bad.md: its front matter'), expect.stringContaining('huge.md: it is larger than')]);
});
