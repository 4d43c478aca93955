/** The entry of `tendon serve` without a command line: reads the environment, serves until a signal stops it. */
import { startServer } from './app/start-server.ts';
import { giveMemoryBack } from './platform/give-memory-back.ts';
import { serveUntilSignal } from './platform/serve-until-signal.ts';

/** Resolves with the exit code when the server has ended: 0 stopped by a signal, 1 could not start, 2 wrong configuration. */
export function serve(env: NodeJS.ProcessEnv, { whileUsed = false }: ServeOptions = {}): Promise<number> {
  return serveUntilSignal(env, async (config) => {
    const server = await startServer(config);
    const { banner, engine } = server;
    giveMemoryBack(() => engine.conversations.isInUse);
    return {
      banner,
      logger: engine.logger,
      // Nobody is to come back to it, so neither are its sandboxes left for the next one.
      close: () => server.close({ stopSandboxes: whileUsed }),
      // Others can take over only what is in a database that they have too.
      ...(config.databaseUrl && { drain: () => server.drain() }),
      ...(whileUsed && { isUsed: () => server.openSockets() > 0 || engine.conversations.isInUse }),
    };
  });
}

interface ServeOptions {
  /** It ends by itself when nobody is connected to it and no agent works. Default: it serves on. */
  readonly whileUsed?: boolean;
}

if (import.meta.main) process.exit(await serve(process.env));
