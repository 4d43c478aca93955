import { afterAll, beforeAll, expect, it } from 'vitest';
import { waitFor } from '@tendon/testing';
import { startExecutor, type TestExecutor } from '../testing/start-executor.ts';

let executor: TestExecutor;
beforeAll(async () => void (executor = await startExecutor()));
afterAll(() => executor.kill());

const start = async (command: string): Promise<string> => String((await executor.run(command, { background: true })).extras.command_id);
const read = async (background: object): Promise<string> => (await executor.act('read', { path: 'background', background })).content;

/** Asks until it is so; the deadline is that of the test. */
async function until(background: object, holds: (text: string) => boolean): Promise<string> {
  for (;;) {
    const text = await waitFor(read(background), () => 'what was printed');
    if (holds(text)) return text;
  }
}

it('RT822: what runs in the background goes on, is listed, read from a byte on, and ended', async () => {
  expect(await read({})).toBe('No background command was started.');
  const waiting = await start('printf "one é"; mkfifo gate; read -r line < gate; printf " two\\n"; exit 3');
  expect(await until({ id: waiting }, (text) => text.includes('one é'))).toBe(
    `one é\n[Number ${waiting}, running: bytes 0 to 6 of 6. Read on from offset 6.]`,
  );
  expect(await executor.run('echo meanwhile')).toMatchObject({ content: 'meanwhile' });
  expect(await read({})).toMatch(/^0: printf .* \(running, 6 bytes of output in \/tmp\/.*\/0\.log\)$/);
  const other = await start('sleep 1000');
  expect(await executor.act('kill', { id: other })).toMatchObject({ observation: 'run' });
  expect(await read({})).toMatch(/\n1: sleep 1000 \(ended by SIG[A-Z]+, 0 bytes/);
  expect((await executor.act('kill', { id: other })).observation).toBe('error');
  expect((await executor.act('read', { path: 'background', background: { id: '99' } })).observation).toBe('error');
});

it('RT822: a part of a long output is whole characters, and what is put at its path later is not read', async () => {
  const long = await start('for i in {1..20000}; do printf "äöü "; done; printf end');
  await until({ id: long }, (text) => text.includes('ended with exit code 0'));
  let [offset, text] = [0, ''];
  for (;;) {
    const part = await read({ id: long, offset });
    const [, shown = '', to] = /^([^]*)\n\[Number .* bytes \d+ to (\d+) of 140003\./.exec(part) ?? [];
    if (Number(to) === offset) break;
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(24 * 1024);
    text += shown;
    offset = Number(to);
  }
  expect(text).toBe(`${'äöü '.repeat(20_000)}end`);
  await executor.run(`ln -sf /etc/hostname /tmp/tendon-background-*/${long}.log`);
  expect(await read({ id: long })).toMatch(/end\n\[Number/);
});
