import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { ReadStream } from 'node:tty';
import { fileURLToPath } from 'node:url';
import type { ShellSize } from '@tendon/protocol/executor-api';
import type { Terminals } from '../processes/pid-namespace.ts';
import type { PacedReader, ReadingPace } from './terminal/reading-pace.ts';
import { TerminalInput } from './terminal/terminal-input.ts';

/**
 * The native half of `@lydell/node-pty`. Its JavaScript half forks the child itself and can give it neither a private
 * descriptor nor a place in our namespace, so the terminal is opened here and the child started by Node.
 */
interface NativePty {
  open(columns: number, rows: number): { readonly master: number; readonly slave: number; readonly pty: string };
  resize(master: number, columns: number, rows: number): void;
}

export interface Terminal {
  readonly process: ChildProcess;
  /** Where its input is typed. */
  readonly input: TerminalInput;
  /** What it prints is read from it; nothing is written to it. */
  readonly master: ReadStream;
  /** How its output is read. */
  readonly reader: PacedReader;
  /** Descriptor 3 of the child. */
  readonly line: Duplex;
  /** Its programs are notified; only while it is open. */
  resize(size: ShellSize): void;
  /** The device as it is called inside, e.g. `/dev/pts/3`. */
  readonly device: string;
}

export interface OpenTerminalOptions extends ShellSize {
  /** The child, without its terminal: `setsid` puts it into a session whose controlling terminal this is. */
  readonly command: readonly string[];
  /** Put before it, to enter a namespace. */
  readonly enter: readonly string[];
  readonly terminals: Terminals | undefined;
  /** `setsid` of util-linux or busybox. */
  readonly setsid: string;
  readonly env: Readonly<Record<string, string>>;
  readonly pace: ReadingPace;
  /** What the child writes to its terminal; only for the time of the call. */
  readonly onOutput: (bytes: Buffer) => void;
}

const READ_BYTES = 65_536;

let native: NativePty | undefined;

export function openTerminal(options: OpenTerminalOptions): Terminal {
  native ??= loadNative();
  const { terminals } = options;
  const { master, slave, pty } = native.open(options.columns, options.rows);
  // Opened once more: the descriptor that came back does not block, and programs expect a terminal that does.
  const device = openSync(terminals === undefined ? pty : join(terminals.reachedBy, basename(pty)), constants.O_RDWR | constants.O_NOCTTY);
  try {
    const [program = '', ...args] = [...options.enter, options.setsid, '-c', ...options.command];
    const child = spawn(program, args, { cwd: '/', env: options.env, stdio: [device, device, device, 'pipe'] });
    return {
      process: child,
      ...readFrom(master, options),
      line: child.stdio[3] as Duplex,
      resize: ({ columns, rows }) => native?.resize(master, columns, rows),
      device: terminals === undefined ? pty : join(terminals.folder, basename(pty)),
    };
  } finally {
    closeSync(device);
    closeSync(slave);
  }
}

/** Into one piece of memory: a piece for each read, 4 KB of a terminal at a time, is most of what a long output costs. */
function readFrom(fd: number, { onOutput, pace }: OpenTerminalOptions): Pick<Terminal, 'input' | 'master' | 'reader'> {
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  const callback = (size: number): boolean => {
    onOutput(buffer.subarray(0, size));
    reader.took(size);
    return true;
  };
  const master = new ReadStream(fd, { onread: { buffer, callback } });
  const reader = pace.reader(master);
  master.resume();
  return { input: new TerminalInput(fd, master), master, reader };
}

function loadNative(): NativePty {
  const require = createRequire(import.meta.url);
  const bundled = fileURLToPath(new URL('./pty.node', import.meta.url));
  return require(existsSync(bundled) ? bundled : `@lydell/node-pty-${process.platform}-${process.arch}/pty.node`) as NativePty;
}
