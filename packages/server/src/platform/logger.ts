import { createMask, type Mask } from '@tendon/protocol/masking';
import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino';
import type { LogLevel } from './config/config.ts';

/** Structured lines on stderr, so that stdout stays free for what was asked for. */
export type Logger = PinoLogger;

/** No transports: they cost a thread and 50 ms. */
export function createLogger(options: { readonly level: LogLevel; readonly mask: Mask; readonly destination?: DestinationStream }): Logger {
  return pino(
    {
      level: options.level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: (line) => options.mask.text(line) },
    },
    options.destination ?? pino.destination({ dest: 2, sync: true }),
  );
}

/** For lines that are written before the stores are open: the secrets are in those, and none is in these lines. */
export function loggerOfStart(level: LogLevel): Logger {
  return createLogger({ level, mask: createMask([]) });
}
