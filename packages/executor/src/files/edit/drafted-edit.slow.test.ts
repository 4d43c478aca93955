import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LinesToEdit } from '@tendon/protocol/executor-api';
import type { ObservationDraft } from '@tendon/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startExecutor, type TestExecutor } from '../../testing/start-executor.ts';

type Edited = ObservationDraft<'edit'>;

let executor: TestExecutor;
beforeAll(async () => void (executor = await startExecutor()));
afterAll(() => executor.kill());

function file(name: string, content: string | Buffer): string {
  const path = join(executor.workspace, name);
  writeFileSync(path, content);
  return path;
}
async function lines(path: string, start = 1, end = -1): Promise<LinesToEdit> {
  return JSON.parse((await executor.call('POST', '/lines_to_edit', { path, start, end })).body) as LinesToEdit;
}
async function apply(path: string, args: Record<string, unknown>): Promise<Edited> {
  return (await executor.act('edit', { path, impl_source: 'llm_based_edit', ...args })) as Edited;
}
/** As the host does it, with `text` as the model's answer. */
async function draft(path: string, text: string, start = 1, end = -1): Promise<Edited> {
  const found = await lines(path, start, end);
  if (found.state !== 'lines') throw new Error(`these lines cannot be edited: ${JSON.stringify(found)}`);
  return apply(path, { content: '…', start, end, drafted: { text, version: found.version } });
}

describe('lines', () => {
  it('RT190: are those of the range', async () => {
    const path = file('range.txt', 'a\nb\nc\nd\n');
    expect(await lines(path, 2, 3)).toMatchObject({ state: 'lines', text: 'b\nc\n', first: 2, last: 3 });
    expect(await lines(path)).toMatchObject({ text: 'a\nb\nc\nd\n', first: 1, last: 4 });
  });

  it.each([
    [0, 1],
    [3, 2],
    [1, 5],
    [5, -1],
    [1.5, 2],
  ])('RT194: %d to %d of four are refused', async (start, end) => {
    const path = file('four.txt', 'a\nb\nc\nd\n');
    expect(await lines(path, start, end)).toEqual({ state: 'refused', reason: expect.stringContaining('the file has 4 lines') });
  });

  it('RT190: more than 300 are refused', async () => {
    const path = file('long.txt', 'x\n'.repeat(1000));
    expect(await lines(path)).toEqual({ state: 'refused', reason: expect.stringContaining('at most 300 are edited at once') });
    expect(await lines(path, 700, 999)).toMatchObject({ state: 'lines' });
  });

  it('RT194: a folder and a binary file are refused', async () => {
    expect(await lines(executor.workspace)).toMatchObject({ state: 'refused' });
    expect(await lines(file('bin', Buffer.from([0, 1, 2])))).toMatchObject({ state: 'refused', reason: expect.stringContaining('binary') });
  });
});

describe('without a model', () => {
  it('RT191: a new file, an empty one, and an end to append to', async () => {
    const path = join(executor.workspace, 'new/a.txt');
    expect(await lines(path)).toEqual({ state: 'none' });
    expect(await apply(path, { content: 'one' })).toMatchObject({
      content: `File created successfully at: ${path}`,
      extras: { prev_exist: false },
    });
    expect(await lines(path, -1)).toEqual({ state: 'none' });
    await apply(path, { content: 'two\n', start: -1 });
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
    const empty = file('empty.txt', '');
    expect(await lines(empty)).toEqual({ state: 'none' });
    await apply(empty, { content: 'full\n' });
    expect(readFileSync(empty, 'utf8')).toBe('full\n');
  });

  it('RT194: lines that no model wrote out are not guessed', async () => {
    const path = file('guess.txt', 'a\n');
    expect((await apply(path, { content: 'b' })).content).toMatch(/^ERROR:\n.*no model wrote the edit out/);
    expect(readFileSync(path, 'utf8')).toBe('a\n');
  });
});

describe('going back', () => {
  it('RT192: only the lines change, and undo_edit takes them back', async () => {
    const before = Buffer.from('\ufeffä\r\nb\r\nc', 'utf8');
    const path = file('unchanged.txt', before);
    const { content, extras } = await draft(path, 'B\nB2\n', 2, 2);
    expect(readFileSync(path, 'utf8')).toBe('\ufeffä\r\nB\r\nB2\r\nc');
    expect(content).toBe(`The file ${path} has been edited:\n${extras.diff}`);
    expect(extras).toMatchObject({
      prev_exist: true,
      old_content: 'ä\r\nb\r\nc',
      new_content: 'ä\r\nB\r\nB2\r\nc',
      impl_source: 'llm_based_edit',
    });
    await draft(path, 'C\n', 4, 4);
    expect(readFileSync(path, 'utf8')).toMatch(/C$/);
    await executor.act('edit', { command: 'undo_edit', path });
    await executor.act('edit', { command: 'undo_edit', path });
    expect(readFileSync(path)).toEqual(before);
  });

  it('RT192: a file that was changed meanwhile stays as it is', async () => {
    const path = file('race.txt', 'a\nb\n');
    const found = await lines(path);
    writeFileSync(path, 'a\nc\n');
    const version = found.state === 'lines' ? found.version : '';
    const { content } = await apply(path, { content: '…', drafted: { text: 'x\n', version } });
    expect(content).toMatch(/^ERROR:\nIt was not edited: it was changed while/);
    expect(readFileSync(path, 'utf8')).toBe('a\nc\n');
  });
});

describe('parsers', () => {
  it.each([
    ['a.py', 'x = 1\n', 'x = (\n', 'was never closed'],
    ['a.js', 'let x = 1;\n', 'let x = ;\n', 'SyntaxError'],
    ['m.js', 'export const x = 1;\n', 'export const = 1;\n', 'SyntaxError'],
    ['a.mjs', 'export {};\n', 'export {;\n', 'SyntaxError'],
    ['a.json', '{"a": 1}\n', '{"a": 1\n', 'JSON'],
    ['a.toml', 'a = 1\n', 'a = \n', 'Invalid value'],
    ['a.sh', 'echo a\n', 'if true; then\n', 'unexpected end of file'],
  ])('RT193: %s: what no longer parses is refused with the parser’s words and the diff', async (name, good, bad, words) => {
    const path = file(name, good);
    const { content, extras } = await draft(path, bad);
    expect(content).toMatch(/^ERROR:\nIt was not edited: after the edit it would not parse any more\.\n/);
    expect(content).toContain(words);
    expect(content).toContain(`\n-${good}+${bad}`);
    expect(extras.diff).toBeNull();
    expect(readFileSync(path, 'utf8')).toBe(good);
    expect((await draft(path, good.replace('1', '2'))).content).not.toContain('ERROR');
  });

  it('RT193: what did not parse before may be edited', async () => {
    const path = file('broken.py', 'x = (\ny = 1\n');
    await draft(path, 'y = 2\n', 2, 2);
    expect(readFileSync(path, 'utf8')).toBe('x = (\ny = 2\n');
  });

  it('RT193: nothing of the file is run', async () => {
    const path = file('quiet.py', 'pass\n');
    await draft(path, `open(${JSON.stringify(join(executor.workspace, 'ran'))}, "w")\n`);
    expect(await executor.run('ls ran')).toMatchObject({ exitCode: 2 });
  });
});
