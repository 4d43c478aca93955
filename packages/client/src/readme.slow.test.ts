import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pathToFileURL } from 'node:url';
import { TendonProcess } from '@tendon/testing/servers';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
/** Each example with the output that stands below it. */
const EXAMPLES = [
  ...readFileSync(join(import.meta.dirname, '../README.md'), 'utf8').matchAll(/```js\n([\s\S]*?)```\n```text\n([\s\S]*?)```/g),
].map(([, code = '', output = '']) => ({ code, lines: output.trim().split('\n') }));

let tendon: TendonProcess;
let folder: string;
beforeAll(async () => {
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs'), '--if-stale', 'client'], { stdio: 'ignore' });
  folder = mkdtempSync(join(tmpdir(), 'tendon-readme-'));
  tendon = await TendonProcess.start();
});
afterAll(async () => {
  await tendon.remove();
  rmSync(folder, { recursive: true });
});

it('CK964: there are examples in the README of the SDK, all with their output', () => {
  expect(EXAMPLES).toHaveLength(4);
});

it.each(EXAMPLES)('CK964: what the README of the SDK shows works as it stands there, with the built file (%#)', async ({ code, lines }) => {
  const built = pathToFileURL(join(root, 'packages/client/dist/index.js')).href;
  const file = join(folder, 'example.mjs');
  writeFileSync(file, code.replace("'@tendon/client'", `'${built}'`).replace('http://127.0.0.1:3000', tendon.url));
  const { stdout } = await promisify(execFile)(process.execPath, [file], { timeout: 120_000 });
  expect(stdout.split('\n')).toEqual(expect.arrayContaining(lines));
});
