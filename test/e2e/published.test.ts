/** What is published, installed on its own as npm would, without the repository around it. */
import { execFile } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tendon-published-'));
const tendon = join(folder, 'node_modules/.bin/tendon');
const workspace = join(folder, 'workspace');
const env = { PATH: process.env.PATH, HOME: join(folder, 'home'), TENDON_HOME: join(folder, 'home/.tendon') };

beforeAll(async () => {
  mkdirSync(workspace);
  mkdirSync(env.HOME);
  await run(process.execPath, [join(root, 'scripts/pack.mjs'), join(folder, 'package')]);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const options = ['--offline', '--omit=optional', '--install-links', '--no-audit', '--no-fund'];
  const { stderr } = await run('npm', ['install', ...options, './package'], { cwd: folder });
  // npm only warns of a file that it could not unpack.
  expect(filesOf('node_modules/tendon'), stderr).toEqual(filesOf('package'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

const filesOf = (path: string): string[] => globSync('**/*.{ts,js,mjs}', { cwd: join(folder, path) }).toSorted();

describe('the published package', () => {
  it('is one package and small', async () => {
    const { stdout } = await run('du', ['-sm', join(folder, 'node_modules')]);
    expect(Number.parseInt(stdout, 10)).toBeLessThanOrEqual(60);
  });

  it('says its version', async () => {
    const { stdout } = await run(tendon, ['--version'], { env });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  itInFull('carries out a task in a sandbox', async () => {
    const { stdout } = await run(tendon, ['run', '--json', 'write a bash script that prints hello'], { env, cwd: workspace });
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { observation?: string; content?: string });
    expect(events.find((event) => event.observation === 'run')?.content).toBe('hello');
  });

  itInFull('CK964: has the types of the SDK, with nothing else installed, under the strictest options', async () => {
    const compile = async (name: string, code: string): Promise<string> => {
      const file = join(folder, name);
      writeFileSync(file, code);
      const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--lib', 'es2024,esnext.disposable,dom'];
      const tsc = [
        join(root, 'node_modules/typescript/bin/tsc'),
        '--ignoreConfig',
        '--skipLibCheck',
        'false',
        '--singleThreaded',
        '--types',
        '',
        ...options,
        file,
      ];
      return run(process.execPath, tsc, { cwd: folder }).then(
        () => '',
        (error: { stdout: string }) => error.stdout,
      );
    };
    expect(await compile('right.mts', CONSUMER)).toBe('');
    const errors = await compile(
      'wrong.mts',
      CONSUMER.replace('event.args.command', 'event.args.comand').replace('llm_model', 'llm_modle'),
    );
    // What servers of other versions send beside them is unknown, not an error in itself.
    expect(errors.match(/error TS\d+/g)).toEqual(['error TS18046', 'error TS2551']);
  });
});

const CONSUMER = `
import { createClient, type Client } from 'tendon/client';
const tendon: Client = createClient({ baseUrl: 'http://127.0.0.1:3000' });
const { conversation_id } = await tendon.conversations.create({ initial_user_msg: 'hello' });
for await (const event of tendon.open(conversation_id).events()) {
  if ('action' in event && event.action === 'run') event.args.command.trimEnd();
}
const model: string | null | undefined = (await tendon.settings.get())?.llm_model;
export { model };
`;
