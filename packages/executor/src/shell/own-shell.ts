import { StringDecoder } from 'node:string_decoder';
import type { ShellSize } from '@tendon/protocol/executor-api';
import { childOf, killSession } from '../processes/process-tree.ts';
import { EARLY_VICTIM, OWN_DESCRIPTORS, type DetachedOptions } from './detached-process.ts';
import { openTerminal, type OpenTerminalOptions } from './open-terminal.ts';
import type { Place } from './shell-memory.ts';

/** A shell that a person types into, beside the agent's, on a terminal of its own. */
export interface OwnShell {
  type(text: string): void;
  resize(size: ShellSize): void;
  /** Stops and goes on reading what it prints: its programs wait meanwhile. */
  pause(): void;
  resume(): void;
  /** Ends it with everything in its session. */
  close(): void;
}

export interface OwnShellOptions extends DetachedOptions, Pick<OpenTerminalOptions, 'terminals' | 'setsid' | 'pace'> {
  /** Where it begins, and with which variables: the agent's. */
  readonly place: Pick<Place, 'exports' | 'workingDir'>;
  readonly size: ShellSize;
  readonly onOutput: (text: string) => void;
  /** Once, and nothing after it; never after `close`. */
  readonly onEnd: (exitCode: number | null, reason: string | undefined) => void;
}

/** What keeps the agent's programs from asking, paging and remembering; the prompt is of a shell without a `~/.bashrc`. */
const FOR_A_PERSON = `unset PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER GIT_TERMINAL_PROMPT DEBIAN_FRONTEND PROMPT_COMMAND; export PS1='\\w \\$ '`;

export function openOwnShell(options: OwnShellOptions): OwnShell {
  const { shell, place, size, onOutput, onEnd } = options;
  const script = `${OWN_DESCRIPTORS}; ${EARLY_VICTIM}; eval "$1" 2>/dev/null; ${FOR_A_PERSON}; cd -- "$2" || cd /; exec "$0" -i`;
  const decoder = new StringDecoder('utf8');
  let isFull = false;
  let isOver = false;
  const terminal = openTerminal({
    ...options,
    ...size,
    command: [shell, '--norc', '--noprofile', '-c', script, shell, place.exports, place.workingDir],
    // A pace that rests and goes on does not go on while nobody takes what was read.
    pace: {
      reader: (source) => options.pace.reader({ pause: () => source.pause(), resume: () => (isFull ? undefined : source.resume()) }),
    },
    onOutput: (bytes) => {
      const text = decoder.write(bytes);
      if (text !== '' && !isOver) onOutput(text);
    },
  });
  const { process: child, input, master, line } = terminal;
  function end(): void {
    isOver = true;
    // What only entered the namespace ends with its child.
    const pid = child.pid === undefined || options.enter.length === 0 ? child.pid : childOf(child.pid);
    if (pid !== undefined && child.exitCode === null && child.signalCode === null) killSession(pid);
    terminal.reader.close();
    master.destroy();
    line.destroy();
  }
  function ended(exitCode: number | null, reason: string | undefined): void {
    if (isOver) return;
    end();
    onEnd(exitCode, reason);
  }
  line.on('error', () => {}).resume();
  master.on('error', () => {}); // EIO: the other side is gone
  child.on('error', (error) => ended(null, error.message));
  child.on('exit', (code, signal) => {
    const act = (): void => ended(code, signal ?? undefined);
    if (master.closed) return act();
    master.once('close', act);
    setTimeout(act, TRAIL_MS).unref();
  });
  return {
    type(text) {
      if (isOver) return;
      input.type(text);
      if (input.unread > MAX_UNREAD_BYTES) ended(null, 'what runs in it reads nothing of what is typed');
    },
    resize: (to) => isOver || terminal.resize(to),
    pause() {
      isFull = true;
      master.pause();
    },
    resume() {
      isFull = false;
      if (!isOver) master.resume();
    },
    close: () => isOver || end(),
  };
}

/** More than anybody pastes. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;
/** How long the terminal of a shell that has ended is read where another process holds it open. */
const TRAIL_MS = 1000;
