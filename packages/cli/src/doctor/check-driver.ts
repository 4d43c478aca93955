import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunAction } from '@tendon/protocol';
import { composeEngine, readConfig, systemClock, type Config } from '@tendon/server/headless';
import type { Finding } from './check-machine.ts';

const START_MS = 60_000;
const ACTION_MS = 20_000;
const WORDS = 'tendon-doctor';
/** The number of namespaces that a command there may create; 0 if the sandbox closes them (SB410). */
const NAMESPACES = '/proc/sys/user/max_user_namespaces';

/** Starts a real sandbox in a home of its own, does one thing in it, ends it. Names the phase that failed; leaves nothing. `env` = how sandboxes are to be made. */
export async function checkDriver(runtime: Config['runtime'], env: NodeJS.ProcessEnv): Promise<Finding> {
  const name = `sandbox ${runtime}`;
  const home = await mkdtemp(join(tmpdir(), 'tendon-doctor-'));
  let phase = 'probe';
  try {
    const read = readConfig({ ...env, TENDON_HOME: home, RUNTIME: runtime, LOG_LEVEL: 'silent' });
    if (!read.ok) return { name, ok: false, says: read.problems.join('; ') };
    const startMs = read.config.kubernetes === undefined ? START_MS : read.config.kubernetes.startSeconds * 1000;
    const engine = await composeEngine(read.config, { clock: systemClock });
    try {
      const created = await engine.conversations.create({});
      if (!created.ok) return { name, ok: false, says: created.error.message };
      const { id } = created.record;
      phase = 'start';
      const sandbox = await engine.runtimes.acquire(id, {
        signal: AbortSignal.timeout(startMs),
        onPhase: (at, detail) => (phase = `start (${[at, detail].filter(Boolean).join(': ')})`),
      });
      phase = 'first action';
      const action = {
        ...RunAction.create({ command: `echo ${WORDS}; read -r most < ${NAMESPACES} && echo "namespaces: $most"` }),
        id: 0,
        timestamp: systemClock.now().toISOString(),
        source: 'user' as const,
      };
      const result = await sandbox.execute(action, { signal: AbortSignal.timeout(ACTION_MS), isFresh: true });
      if (result.outcome !== 'observed') return { name, ok: false, says: `first action: ${result.reason}` };
      const { content } = result.observation;
      if (!content.includes(WORDS)) return { name, ok: false, says: `first action: echo answered "${content.slice(0, 200)}"` };
      phase = 'stop';
      await engine.runtimes.stop(id, { forGood: true });
      const { strength } = engine.sandbox;
      const isOpen = strength !== 'none' && !/namespaces: 0$/m.test(content);
      return {
        name,
        ok: true,
        says: `${strength}: ${sandbox.description}${isOpen ? '; weaker here: what it runs can make namespaces of its own' : ''}`,
      };
    } finally {
      await engine.close();
    }
  } catch (cause) {
    return { name, ok: false, says: `${phase}: ${cause instanceof Error ? cause.message : String(cause)}` };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
