import type { Secret } from '@tendon/core';
import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino';
import type { LogLevel } from './config.ts';
import { maskSecrets } from './security/mask-secrets.ts';

/** Structured lines on stderr, so that stdout stays free for what was asked for. */
export type Logger = PinoLogger;

/** `secrets` is asked for every line, because some come later (stored settings). No transports: they cost a thread and 50 ms. */
export function createLogger(options: {
  readonly level: LogLevel;
  readonly secrets: () => readonly Secret[];
  readonly destination?: DestinationStream;
}): Logger {
  return pino(
    {
      level: options.level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: (line) => maskSecrets(line, options.secrets()) },
    },
    options.destination ?? pino.destination({ dest: 2, sync: true }),
  );
}
