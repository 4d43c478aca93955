import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { composeEngine, systemClock, type Config, type Engine } from '@tendon/server/headless';

/** Nobody can answer a sandbox that wants to reach a host, so it does not wait for it. */
const OPTIONS = { clock: systemClock, questionWaitMs: 0 };

/**
 * The engine over the user's own memory, so that runs stand in the list of conversations and use the stored settings.
 * While a server or another run has it, this run keeps its log in a folder of its own. Rejects with an Error whose message can be shown.
 */
export async function openEngine(config: Config, notify: (notice: string) => void): Promise<Engine> {
  try {
    return await composeEngine(config, OPTIONS);
  } catch (error) {
    if (!isLocked(error)) throw error;
    const home = join(config.home, 'runs', randomUUID());
    notify(`Another Tendon is using ${config.home}; this run is stored in ${home}.`);
    return composeEngine({ ...config, home }, OPTIONS);
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && error.name === 'StorageError' && 'code' in error && error.code === 'locked';
}
