import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../server.test-support.ts';
import { readFiledConfig } from './with-config-file.ts';

it('SV1253: a secret may stand in a file, for which the environment names it', async () => {
  const home = temporaryFolder();
  const path = join(home, 'jwt');
  writeFileSync(path, 'a secret of sixteen\n');
  const read = await readFiledConfig({ TENDON_HOME: home, JWT_SECRET_FILE: path });
  expect(read.ok && read.config.jwtSecret?.reveal()).toBe('a secret of sixteen');
  writeFileSync(path, '\n');
  const none = await readFiledConfig({ TENDON_HOME: home, LLM_API_KEY_FILE: path });
  expect(none.ok && none.config.llmApiKey).toBe(undefined);
});

it('SV1253: a file that is not there, and a value in both places, end the start by name', async () => {
  const home = temporaryFolder();
  const read = await readFiledConfig({
    TENDON_HOME: home,
    JWT_SECRET_FILE: '/no/such/file',
    SESSION_API_KEY_FILE: '/no/such/file',
    SESSION_API_KEY: 'the-key-of-this-server',
  });
  expect(!read.ok && read.problems).toEqual([
    'JWT_SECRET_FILE: /no/such/file cannot be read (ENOENT)',
    'SESSION_API_KEY_FILE: SESSION_API_KEY is set too; leave one of them out',
  ]);
});
