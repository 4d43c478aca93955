import { expect, it } from 'vitest';
import { failureText } from './failures.ts';
import { temporaryName } from './temporary-name.ts';

const failed = (code: string, errno: number, path: string): Error =>
  Object.assign(new Error(`${code}: ${path}`), { code, errno, path, syscall: 'open' });

it('RT232: a refusal of the system is described in words', () => {
  expect(failureText(failed('EACCES', -13, '/w/file'), '/w/file')).toBe('The file /w/file could not be used: permission denied (EACCES)');
});

it('RT232: of a folder where nothing can be made the file that was to be made there is not named', () => {
  const text = failureText(failed('EROFS', -30, `/w/${temporaryName()}`), '/w/file');
  expect(text).toBe(
    'The file /w/file could not be used: read-only file system (EROFS). What is written is first put beside it, and nothing can be made in its folder.',
  );
});
