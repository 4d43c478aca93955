import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { openTerminal } from '../open-terminal.ts';
import { createReadingPace, type PacedReader, type ReadingPace } from './reading-pace.ts';

const MIB = 1024 * 1024;
const READ_BYTES = 4096;
const READ_MS = 0.05;

/** Time that passes only where a test says so. */
class TestClock {
  now = 0;
  #due: { readonly at: number; readonly act: () => void }[] = [];

  readonly clock = {
    nowMs: (): number => this.now,
    after: (ms: number, act: () => void): void => void this.#due.push({ at: this.now + ms, act }),
  };

  get isWaiting(): boolean {
    return this.#due.length > 0;
  }

  pass(ms: number): void {
    this.now += ms;
    const due = this.#due.filter(({ at }) => at <= this.now);
    this.#due = this.#due.filter(({ at }) => at > this.now);
    for (const { act } of due) act();
  }
}

/** A command that always has more to read; reads it where it is not paused. */
class EndlessCommand {
  readonly reader: PacedReader;
  isPaused = false;

  constructor(pace: ReadingPace) {
    this.reader = pace.reader({ pause: () => (this.isPaused = true), resume: () => (this.isPaused = false) });
  }
}

/** Milliseconds of so many that went by in reading. */
function readingTime(time: TestClock, commands: readonly EndlessCommand[], ms: number): number {
  let reading = 0;
  for (const end = time.now + ms; time.now < end;) {
    const before = reading;
    for (const command of commands) {
      if (command.isPaused) continue;
      time.pass(READ_MS);
      reading += READ_MS;
      command.reader.took(READ_BYTES);
    }
    if (reading === before) time.pass(READ_MS);
  }
  return reading;
}

it.each([1, 10])('RT721: %d commands that print without end are read a quarter of the time, all together', (count) => {
  const time = new TestClock();
  const pace = createReadingPace(time.clock);
  const commands = Array.from({ length: count }, () => new EndlessCommand(pace));
  for (const { reader } of commands) reader.took(4 * MIB);
  const share = readingTime(time, commands, 2000) / 2000;
  expect(share).toBeGreaterThan(0.15);
  expect(share).toBeLessThan(0.3);
});

it('RT721: a command is read as it comes for 4 MiB, also beside one that rests', () => {
  const time = new TestClock();
  const pace = createReadingPace(time.clock);
  const [endless, usual] = [new EndlessCommand(pace), new EndlessCommand(pace)];
  endless.reader.took(4 * MIB);
  readingTime(time, [endless], 4000);
  while (!endless.isPaused) readingTime(time, [endless], READ_MS);
  usual.reader.took(4 * MIB);
  expect(usual.isPaused).toBe(false);
});

it('RT721: a program that writes seldom, or gets no processor, is read when it writes, however much it has printed', () => {
  const time = new TestClock();
  const seldom = new EndlessCommand(createReadingPace(time.clock));
  seldom.reader.took(4 * MIB);
  let rests = 0;
  for (let write = 0; write < 1000; write += 1) {
    time.pass(20);
    expect(seldom.isPaused).toBe(false);
    seldom.reader.took(READ_BYTES);
    rests += seldom.isPaused ? 1 : 0;
  }
  expect(rests).toBeLessThan(50);
});

it('RT721: what a command that has ended has left is read at once', () => {
  const time = new TestClock();
  const pace = createReadingPace(time.clock);
  const [ended, other] = [new EndlessCommand(pace), new EndlessCommand(pace)];
  for (const { reader } of [ended, other]) reader.took(5 * MIB);
  while (!ended.isPaused || !other.isPaused) readingTime(time, [ended, other], READ_MS);
  ended.reader.restart();
  expect([ended.isPaused, other.isPaused]).toEqual([false, true]);
  ended.reader.took(4 * MIB);
  expect(ended.isPaused).toBe(false);
});

it('RT721: a program whose output is not read waits in its write, and is interrupted there at once', async () => {
  const time = new TestClock();
  let bytes = 0;
  const terminal = openTerminal({
    ...{ command: ['bash', '-c', "trap 'exit 42' INT; while :; do head -c 1M /dev/zero; done"], enter: [], terminals: undefined },
    ...{ setsid: 'setsid', env: { PATH: process.env.PATH ?? '' }, columns: 80, rows: 24, pace: createReadingPace(time.clock) },
    onOutput: (output) => {
      bytes += output.length;
      time.pass(1);
    },
  });
  onTestFinished(() => void terminal.master.destroy());
  terminal.master.on('error', () => {}); // EIO: the other side is gone
  terminal.reader.took(4 * MIB);
  await expect.poll(() => time.isWaiting).toBe(true);
  const seen = bytes;
  terminal.input.type('\u0003');
  const [code] = (await once(terminal.process, 'exit')) as [number];
  expect(code).toBe(42);
  expect(bytes).toBe(seen);
  terminal.reader.restart();
  await new Promise<void>((resolve) => terminal.master.on('close', resolve));
});
