import { flushCompileCache } from 'node:module';
import { setTimeout } from 'node:timers/promises';
import type { Config } from './config/config.ts';
import { readFiledConfig } from './config/with-config-file.ts';
import type { Logger } from './logger.ts';

/** Something that serves until a signal stops it. */
export interface Serving {
  readonly banner: string;
  readonly logger: Logger;
  /** Where it is to end by itself: whether somebody needs it. */
  readonly isUsed?: () => boolean;
  /** Where others go on with its work: called before `close`. Never rejects, and takes no longer than was configured. */
  drain?(): Promise<void>;
  close(): Promise<void>;
}

/** Reads the environment, starts, waits for a signal, closes. Resolves with the exit code: 0 stopped by a signal, 1 could not start, 2 wrong configuration. */
export async function serveUntilSignal(env: NodeJS.ProcessEnv, start: (config: Config) => Promise<Serving>): Promise<number> {
  const read = await readFiledConfig(env);
  if (!read.ok) {
    for (const problem of read.problems) process.stderr.write(`${problem}\n`);
    return 2;
  }
  for (const notice of read.notices) process.stderr.write(`${notice}\n`);
  try {
    const serving = await start(read.config);
    process.stdout.write(serving.banner);
    flushCompileCache();
    outliveMistakes(serving.logger);
    await (serving.isUsed ? Promise.race([stopSignal(), untilUnused(serving.isUsed)]) : stopSignal());
    await serving.drain?.();
    await serving.close();
    return 0;
  } catch (cause) {
    process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`);
    return 1;
  }
}

/** A promise that nobody looked after is a mistake of ours, and no reason to end everybody's work: it is written down. */
function outliveMistakes(logger: Logger): void {
  process.on('unhandledRejection', (cause) => logger.error({ err: cause }, 'nobody looked after a failure'));
}

const LOOK_MS = 500;
/** Long enough for a client that leaves it for the next page, or has lost its connection. */
const UNUSED_LOOKS = 10;
/** The client that started it is not there at once: on a busy machine it takes seconds to learn that the server answers. */
const FIRST_LOOKS = 60;

/**
 * Resolves when nobody has needed it for a while.
 * @internal
 */
export async function untilUnused(isUsed: () => boolean, sleep: (ms: number) => Promise<unknown> = setTimeout): Promise<void> {
  let enough = FIRST_LOOKS;
  for (let looks = 0; looks < enough; looks += 1) {
    if (isUsed()) {
      enough = UNUSED_LOOKS;
      looks = 0;
    }
    await sleep(LOOK_MS);
  }
}

/** The first signal asks; a second one means that the user does not want to wait. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
      resolve();
    };
    process.once('SIGINT', stop);
    process.once('SIGTERM', stop);
  });
}
