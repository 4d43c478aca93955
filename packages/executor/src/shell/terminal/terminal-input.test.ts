import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { Seen, waitFor } from '@tendon/testing';
import { expect, it, onTestFinished } from 'vitest';
import { openTerminal } from '../open-terminal.ts';
import { createReadingPace } from './reading-pace.ts';

it('SV992: what is typed and not read waits, all else goes on, and all of it comes in its order', async () => {
  const text = Array.from({ length: 20_000 }, (_, index) => `line ${index}\n`).join('');
  const output = new Seen<string>();
  const terminal = openTerminal({
    command: ['/bin/sh', '-c', `stty raw -echo; echo ready; read -r go <&3; head -c ${text.length} | sha1sum`],
    enter: [],
    terminals: undefined,
    setsid: execFileSync('which', ['setsid'], { encoding: 'utf8' }).trim(),
    env: { PATH: process.env.PATH ?? '' },
    columns: 80,
    rows: 24,
    pace: createReadingPace(),
    onOutput: (bytes) => output.take(bytes.toString()),
  });
  onTestFinished(() => void terminal.master.destroy());
  terminal.master.on('error', () => {}); // EIO: the other side is gone
  await output.until(() => output.all.join('').includes('ready'), 'the program');
  terminal.input.type(text.slice(0, 100_000));
  terminal.input.type(text.slice(100_000));
  expect(terminal.input.unread).toBeGreaterThan(0);
  const closed = new Promise((resolve) => terminal.master.on('close', resolve));
  terminal.line.write('go\n');
  await waitFor(closed, () => 'the end of the program');
  expect(output.all.join('')).toContain(createHash('sha1').update(text).digest('hex'));
  expect(terminal.input.unread).toBe(0);
  terminal.input.type('nobody is there');
  expect(terminal.input.unread).toBe(0);
});
