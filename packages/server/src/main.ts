/** The entry of `tendon serve` without a command line: reads the environment, serves until a signal stops it. */
import { startServer } from './app/start-server.ts';
import { serveUntilSignal } from './platform/serve-until-signal.ts';

/** Resolves with the exit code when the server has ended: 0 stopped by a signal, 1 could not start, 2 wrong configuration. */
export function serve(env: NodeJS.ProcessEnv): Promise<number> {
  return serveUntilSignal(env, async (config) => {
    const server = await startServer(config);
    return { banner: server.banner, logger: server.engine.logger, close: () => server.close() };
  });
}

if (import.meta.main) process.exit(await serve(process.env));
