import { cp } from 'node:fs/promises';
import { composeEngine, readConfig, systemClock, type Runtime } from '@tendon/server/headless';

export interface FreshSandboxOptions {
  /** How sandboxes are to be made: the environment of the user. */
  readonly env: NodeJS.ProcessEnv;
  /** A folder that is only for this; the caller removes it. */
  readonly home: string;
  /** Copied into the workspace, which is empty otherwise. */
  readonly workspace: string | undefined;
  readonly signal: AbortSignal;
}

const START_MS = 300_000;

/** What must not be shared with the user's own work: a recording is a stranger's. */
const NOT_TAKEN = ['WORKSPACE_BASE', 'TENDON_ALLOWED_DIRS', 'SANDBOX_VOLUMES', 'SANDBOX_PORTS', 'LLM_API_KEY', 'SESSION_API_KEY'];

/** Gives `use` a sandbox that nothing has been done in, and ends it. Rejects with a user-facing error. */
export async function withFreshSandbox<T>(options: FreshSandboxOptions, use: (runtime: Runtime) => Promise<T>): Promise<T> {
  const without = Object.fromEntries(NOT_TAKEN.map((name) => [name, undefined]));
  const read = readConfig({ ...options.env, ...without, TENDON_HOME: options.home, LOG_LEVEL: 'silent' });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const engine = await composeEngine(read.config, { clock: systemClock });
  try {
    const created = await engine.conversations.create({});
    if (!created.ok) throw new Error(created.error.message);
    const { id, workspace } = created.record;
    try {
      if (options.workspace !== undefined) await cp(options.workspace, workspace, { recursive: true, verbatimSymlinks: true });
      const signal = AbortSignal.any([options.signal, AbortSignal.timeout(START_MS)]);
      return await use(await engine.runtimes.acquire(id, { signal }));
    } finally {
      await engine.runtimes.stop(id, { forGood: true });
    }
  } finally {
    await engine.close();
  }
}
