/**
 * The program inside the sandbox: `node main.mjs --config <ExecutorConfig as JSON>`, or `--await <AwaitRequest as JSON>` where it is configured later.
 * It ends with everything it started.
 */
import type { ExecutorConfig } from '@tendon/protocol/executor-api';
import { parseConfig } from './config.ts';
import { createExecutor } from './create-executor.ts';
import { createAuthGuard, type AuthGuard } from './http/auth-guard.ts';
import { awaitConfig, parseAwaitRequest } from './http/await-config.ts';
import { reasonOf } from './action-handler.ts';

const { config, guard } = await configured();
const executor = await createExecutor(config, guard);
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end);
process.on('unhandledRejection', (error) => process.stderr.write(`${String(error)}\n`));
void executor.over.then(end);
const port = await executor.listen();
process.stdout.write(`listening${port === undefined ? '' : ` on ${port}`}\n`);

/** Prints what is wrong with the configuration in a line, before anything begins. */
async function configured(): Promise<{ readonly config: ExecutorConfig; readonly guard: AuthGuard }> {
  try {
    const args = process.argv.slice(2);
    const awaited = parseAwaitRequest(args);
    const given = awaited ? await awaitConfig(awaited, process.env) : parseConfig(args);
    return { config: given, guard: createAuthGuard(given) };
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\n`);
    return process.exit(2);
  }
}

function end(): void {
  void executor.end().then(() => process.exit(0));
}
