/** Jupyter cells in a whole conversation: a scripted model, the real sandbox, what clients and the model see. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { TendonProcess, Watcher, type WireEvent } from '../support/tendon-process.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const cell = (code: string) => ({ toolCalls: [{ name: 'execute_ipython_cell', arguments: { code } }] });
const SCRIPT = [
  { toolCalls: [{ name: 'execute_bash', arguments: { command: 'mkdir data && cd data && echo 4,5 > a.csv' } }] },
  cell('rows = [int(x) for x in open("a.csv").read().split(",")]; sum(rows)'),
  cell(`import base64; from IPython.display import Image; Image(base64.b64decode("${PNG}"))`),
  cell('import os; os._exit(1)'),
  cell('"rows" in globals()'),
  { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] },
];

it('RT103: cells of a conversation share the shell’s folder and a kernel, whose death is said', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tendon-cells-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const script = join(folder, 'script.json');
  writeFileSync(script, JSON.stringify(SCRIPT));
  const tendon = await TendonProcess.start({ LLM_MODEL: `scripted/${script}` });
  onTestFinished(() => tendon.remove());
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', { initial_user_msg: 'count' });
  const watcher = new Watcher(tendon.url, id);
  await watcher.until((event) => event.action === 'finish');
  watcher.close();

  const cells = watcher.events.filter((event: WireEvent) => event.observation === 'run_ipython');
  expect(cells.map((event) => event.content)).toEqual([
    expect.stringMatching(/^9\n\[Jupyter current working directory: \/workspace\/data\]\n\[Jupyter Python interpreter: \/.*\]$/),
    expect.stringMatching(/^\[An image\.\]\n/),
    expect.stringMatching(/^\[The kernel has ended \(exit code 1\)/),
    expect.stringMatching(/^False\n/),
  ]);
  expect(cells[1]).toMatchObject({ extras: { image_urls: [`data:image/png;base64,${PNG}`] } });
  expect(cells).toMatchObject([true, true, false, true].map((success) => ({ success })));
});
