import { serveUntilSignal } from '@tendon/server/platform';
import { startExecutorHost } from './start-executor-host.ts';

/** `tendon executor` without a command line. Resolves with the exit code when it has ended. */
export function serveExecutor(env: NodeJS.ProcessEnv): Promise<number> {
  return serveUntilSignal(env, startExecutorHost);
}

/** The OpenAPI document of what it answers, as text. */
export async function executorOpenApi(): Promise<string> {
  const { hostOpenApi } = await import('./host-openapi.ts');
  return `${JSON.stringify(await hostOpenApi(), null, 2)}\n`;
}

/** For containers of any image, and for the image of Tendon: see `inject-executor.ts`. */
export async function injectExecutor(folder: string): Promise<void> {
  await (await import('./inject-executor.ts')).injectExecutor(folder);
}
