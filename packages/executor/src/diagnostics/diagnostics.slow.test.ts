import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { itInFull, someOf } from '@tendon/testing';
import type { ObservationDraft } from '@tendon/protocol';
import { startExecutor, type TestExecutor } from '../testing/start-executor.ts';

/** This repository's own TypeScript is a language server. */
const TOOLS = join(import.meta.dirname, '../../../../node_modules/.bin');

/** With one program more on its PATH. */
async function started(programs: Readonly<Record<string, string>> = {}): Promise<TestExecutor> {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-servers-'));
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/bash\n${text}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const PATH = [folder, TOOLS, process.env.PATH].join(delimiter);
  const executor = await startExecutor({ plugins: ['diagnostics'] }, { PATH });
  onTestFinished(async () => {
    await executor.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  return executor;
}

function fileIn({ workspace }: TestExecutor, path: string): string {
  mkdirSync(join(workspace, 'src'), { recursive: true });
  return join(workspace, path);
}

const wrong = (count: number): string => Array.from({ length: count }, (_, n) => `export const n${n}: number = 'x';\n`).join('');

/** The words of these edits, which are made until they match: on a busy machine what comes too late for one edit comes with a later one. */
async function wordsOf(edits: () => Promise<ObservationDraft>, pattern: RegExp): Promise<string> {
  let words = '';
  while (!pattern.test(words)) words += `${(await edits()).content}\n`;
  return words;
}

itInFull(
  'RT831: the errors of an edited file come behind the words of its observation, ten at most, and then that there are none any more',
  async () => {
    const executor = await started();
    const path = fileIn(executor, 'src/a.ts');
    const write = (content: string) => () => executor.act('write', { path, content });
    const words = await wordsOf(write(wrong(12)), /reports errors/);
    expect(words).toContain(
      `Wrote ${path}.\n[The TypeScript language server reports errors in src/a.ts, at line:column:]\n1:14 Type 'string' is not`,
    );
    expect(words).toMatch(/\n10:14 [^\n]+\nand 2 more\n$/);
    expect(await wordsOf(write(wrong(12)), /same errors/)).toContain('the same errors in src/a.ts as before.]');
    await wordsOf(write('export const n0 = 0;\n'), /no errors in src\/a\.ts any more/);
    const patch = `*** Begin Patch\n*** Add File: ${executor.workspace}/src/b.ts\n+import { n0 } from './a.ts';\n+export const b: string = n0;\n*** End Patch`;
    const patched = await executor.act('edit', {
      command: 'apply_patch',
      path: join(executor.workspace, 'src/b.ts'),
      patch,
      impl_source: 'oh_aci',
    });
    const more = patched.content.includes('errors') ? '' : await wordsOf(write('export const n0 = 0;\n'), /errors in src\/b\.ts/);
    expect(patched.content + more).toContain("2:14 Type 'number' is not assignable to type 'string'.");
    const notes = await executor.act('write', { path: join(executor.workspace, 'notes.txt'), content: 'x' });
    expect(notes).toMatchObject({ observation: 'write', content: '' });
  },
);

it.each(
  someOf(
    [
      ['never answers', 'exec sleep 1000'],
      ['ends at once', 'exit 1'],
      ['says what is no message', "printf 'Content-Length: 99999999999\\r\\n\\r\\n'; exec sleep 1000"],
    ] as const,
    1,
  ),
)('RT832: a server that %s leaves every edit as it is without one', async (_what, program) => {
  const executor = await started({ gopls: program });
  const path = fileIn(executor, 'src/main.go');
  for (let edit = 0; edit < 4; edit += 1) {
    const { observation, content } = await executor.act('write', { path, content: `package main // ${edit}\n` });
    expect([observation, content]).toEqual(['write', '']);
  }
});

it('RT833: a server that runs keeps no sandbox from hibernating, and ends with it', async () => {
  const executor = await started();
  await wordsOf(() => executor.act('write', { path: fileIn(executor, 'src/a.ts'), content: wrong(1) }), /errors/);
  const { body } = await executor.call('POST', '/sleep', { with_kernel: true });
  expect(JSON.parse(body)).toEqual({ slept: true });
});

itInFull('RT833: an edit starts no server that runs what files of the workspace name', async () => {
  const executor = await started({ 'rust-analyzer': 'touch "$PWD/ran"; exit 1', gopls: 'touch "$PWD/ran-too"; exit 1' });
  await executor.act('write', { path: fileIn(executor, 'src/main.rs'), content: 'fn main() {}\n' });
  await wordsOf(async () => {
    const written = await executor.act('write', { path: fileIn(executor, 'src/main.go'), content: 'package main\n' });
    return existsSync(fileIn(executor, 'ran-too')) ? { ...written, content: 'ran' } : written;
  }, /ran/);
  expect(existsSync(fileIn(executor, 'ran'))).toBe(false);
});

it('RT831: errors for which there is no space come with a later edit', async () => {
  const executor = await started();
  const { workspace } = executor;
  fileIn(executor, 'src');
  const added = ['a', 'b', 'c'].map((name) => `*** Add File: ${workspace}/src/${name}.ts\n${wrong(6).trimEnd().replaceAll(/^/gm, '+')}`);
  const args = { command: 'apply_patch', path: join(workspace, 'src/a.ts'), impl_source: 'oh_aci' };
  const { content } = await executor.act('edit', { ...args, patch: ['*** Begin Patch', ...added, '*** End Patch'].join('\n') });
  expect(content.match(/^\d+:14 /gm)?.length ?? 0).toBeLessThanOrEqual(10);
  let words = content;
  for (const name of ['a', 'b', 'c']) {
    const isThere = new RegExp(String.raw`errors in src/${name}\.ts, at line:column:\]\n1:14 `);
    if (!isThere.test(words))
      words += await wordsOf(() => executor.act('write', { path: join(workspace, 'src/d.ts'), content: 'export {};\n' }), isThere);
  }
  expect(words).not.toContain('the same errors');
});
