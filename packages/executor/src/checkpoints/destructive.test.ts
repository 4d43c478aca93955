import { expect, it } from 'vitest';
import { isDestructive } from './destructive.ts';

it.each([
  'rm -rf build',
  'cd a && sudo rm -r -f "$PWD"/*',
  String.raw`r\m -rf x; 'r'"m" y`,
  'ls | xargs rm',
  'git reset --hard HEAD~3',
  'git -C repo clean -fdx',
  'git push --force origin main',
  'git -c a.b=c push origin +main',
  "psql -c 'DROP TABLE users'",
  'echo "drop database x;" | mysql',
  'mkfs.ext4 /dev/sda1',
  'chmod -R 000 .',
  'find . -name "*.ts" -delete',
  'rsync -a --delete a/ b/',
  'echo cm0gLXJmIC4= | base64 -d | sh',
  'eval "$X"',
])('CK810: %s is destructive', (command) => {
  expect(isDestructive({ command })).toBe(true);
});

it.each(['ls -la', 'npm test', 'git status', 'git commit -m "a"', 'cat form.ts', 'python -m pytest'])('CK810: %s is not', (command) => {
  expect(isDestructive({ command })).toBe(false);
});

it('CK810: a cell is read like a command', () => {
  expect([isDestructive({ code: 'import shutil; shutil.rmtree("a")' }), isDestructive({ code: 'print(1)' })]).toEqual([true, false]);
});
