import { StringDecoder } from 'node:string_decoder';
import { textArgument, type ActionHandler, errorObservation } from '../action-handler.ts';
import * as hints from './hints.ts';
import { runObservation } from './run-observation.ts';
import type { Session } from './session.ts';
import { signalDetached, spawnDetached, withSecrets, type DetachedOptions } from './detached-process.ts';
import type { ReadingPace } from './terminal/reading-pace.ts';
import { TerminalText } from './terminal/terminal-text.ts';
import { startTrailing } from './trailing-timer.ts';

/** After the command has ended, how long its pipes are read on: a child may hold them for ever. */
const DRAIN_MS = 200;

export interface StaticCommandOptions {
  readonly defaultTimeoutSeconds: number;
  /** Of an observation. */
  readonly outputChars?: number;
  readonly pace: ReadingPace;
}

/** `is_static`: a command beside the session, answered when it ends or its time is up; then it is killed. */
export function createStaticCommand(
  session: Session,
  options: DetachedOptions,
  { defaultTimeoutSeconds, outputChars, pace }: StaticCommandOptions,
): ActionHandler {
  return ({ args, timeout, secrets }, { signal, output, outputPath }) =>
    new Promise((resolve) => {
      const seconds = typeof timeout === 'number' && timeout > 0 ? timeout : defaultTimeoutSeconds;
      const { place } = session;
      const cwd = textArgument(args, 'cwd') || undefined;
      const child = spawnDetached(withSecrets(options, secrets), place, textArgument(args, 'command'), cwd, 'pipe');
      const text = new TerminalText(outputChars);
      let stopped: 'timeout' | 'cancelled' | undefined;
      const stop = (why: 'timeout' | 'cancelled'): void => {
        stopped = why;
        signalDetached(options, child, 'SIGKILL');
      };
      const timer = setTimeout(() => stop('timeout'), seconds * 1000);
      const cancel = (): void => stop('cancelled');
      signal.addEventListener('abort', cancel, { once: true });
      if (signal.aborted) cancel();

      // Without descriptors left it has none, and the error follows.
      const streams = [child.stdout, child.stderr].filter((stream) => stream !== null && stream !== undefined);
      const readers = streams.map((stream) => {
        const decoder = new StringDecoder('utf8');
        const reader = pace.reader(stream);
        stream.on('data', (data: Buffer) => {
          text.write(decoder.write(data));
          output(data);
          reader.took(data.length);
        });
        return reader;
      });
      const settle = (exitCode: number): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', cancel);
        for (const reader of readers) reader.close();
        child.stdout?.destroy();
        child.stderr?.destroy();
        const suffix = stopped ? hints.stopped(stopped, seconds) : hints.completed(exitCode, false);
        resolve(runObservation(args, { content: text.take(outputPath()).trimEnd(), exitCode: stopped ? -1 : exitCode, suffix }, place));
      };
      child.on('error', (error) => resolve(errorObservation(`The command could not be started: ${error.message}`)));
      let exitCode = -1;
      child.on('exit', (code) => {
        exitCode = code ?? -1;
        for (const reader of readers) reader.restart();
        startTrailing(DRAIN_MS, () => settle(exitCode));
      });
      child.on('close', () => settle(exitCode));
    });
}
