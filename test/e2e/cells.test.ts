/** Jupyter cells in a whole conversation: a scripted model, the real sandbox, what clients and the model see. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { itInFull } from '@tendon/testing';
import { TendonProcess, Watcher, type WireEvent } from '@tendon/testing/servers';

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

function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tendon-cells-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

it('RT223: in a conversation without a network a program that connects outwards gets the reason, at once', async () => {
  const tendon = await TendonProcess.scripted(
    [
      { toolCalls: [{ name: 'execute_bash', arguments: { command: 'curl -sS https://pypi.org/simple/; echo "code $?"' } }] },
      cell('%pip install six-that-is-not-there'),
      { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] },
    ],
    { RUNTIME: 'local', SANDBOX_NETWORK: 'none' },
  );
  onTestFinished(() => tendon.remove());
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', { initial_user_msg: 'fetch' });
  const watcher = new Watcher(tendon.url, id);
  await watcher.until((event) => event.action === 'finish');
  watcher.close();
  const shown = watcher.events.flatMap(({ observation, content }) => (observation?.startsWith('run') ? [content ?? ''] : []));
  expect(shown[0]).toMatch(/403[^]*\ncode 56$/);
  expect(shown[1]).toContain('sandbox may not connect there: this conversation has no network');
  expect(shown[1]).not.toContain('total=4');
});

itInFull('RT110: a client sees what a cell prints while it runs, from its offset on', async () => {
  const workspace = temporaryFolder();
  const tendon = await TendonProcess.scripted([{ text: 'Yes?' }], { RUNTIME: 'local', WORKSPACE_BASE: workspace });
  onTestFinished(() => tendon.remove());
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {});
  const watcher = new Watcher(tendon.url, id);
  await watcher.untilState('awaiting_user_input');
  const code = 'import os, time\nprint("wärme", flush=True)\nwhile not os.path.exists("/workspace/go"): time.sleep(0.05)\nprint("late")';
  watcher.send('run_ipython', { code, include_extra: false });
  const output = () =>
    (watcher.volatile as { volatile?: string; cause?: number; offset: number; text: string }[]).filter(
      (frame) => frame.volatile === 'output',
    );
  const shown = () =>
    output()
      .map(({ text }) => text)
      .join('');
  // An end that could be the beginning of a secret waits for what follows it.
  await expect.poll(shown, { timeout: 60_000 }).toMatch(/^w/);
  expect('wärme\n').toContain(shown());
  writeFileSync(join(workspace, 'go'), '');
  const seen = await watcher.until(({ observation }) => observation === 'run_ipython');
  watcher.close();
  expect(seen).toMatchObject({ content: 'wärme\nlate', success: true });
  expect(shown()).toBe('wärme\nlate\n');
  let bytes = 0;
  for (const { cause, offset, text } of output()) {
    expect([cause, offset]).toEqual([seen.cause, bytes]);
    bytes += Buffer.byteLength(text);
  }
});

itInFull('RT103: cells of a conversation share the shell’s folder and a kernel, whose death is reported', async () => {
  const folder = temporaryFolder();
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
