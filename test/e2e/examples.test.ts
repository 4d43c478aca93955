import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TendonProcess } from '@tendon/testing/servers';

const FOLDER = join(import.meta.dirname, '../../examples');
const EXAMPLES = readdirSync(FOLDER).filter((name) => name.endsWith('.mjs'));

let tendon: TendonProcess;
beforeAll(async () => {
  tendon = await TendonProcess.start();
});
afterAll(() => tendon.remove());

/** Runs an example against the server; it asserts what it sees by itself and says so in its last line. */
async function run(name: string): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(process.execPath, [join(FOLDER, name), tendon.url], { timeout: 150_000 });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}

it.each(EXAMPLES)('DL53: the example %s sees what it should', async (name) => {
  const { code, output } = await run(name);
  expect(output).toMatch(/^ok: .*$/m);
  expect(code).toBe(0);
});
