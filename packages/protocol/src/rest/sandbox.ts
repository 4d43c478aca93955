import { z } from 'zod';

/** One sandbox, as `GET /api/sandboxes` lists it. */
export const SandboxInfo = z.object({
  conversation_id: z.string(),
  title: z.string().nullable(),
  driver: z.string(),
  /** The machine, the address of the executor host or the cluster; null: this machine, begun by an earlier version. */
  host: z.string().nullable().optional(),
  incarnation: z.string(),
  /** `dead`: its processes are gone and nobody has noticed yet. `ended`: only its files are left. */
  state: z.enum(['starting', 'awake', 'asleep', 'dead', 'ended']),
  /** What keeps the agent's work inside. */
  strength: z.string().nullable(),
  workspace: z.string(),
  started_at: z.string(),
  uptime_seconds: z.number(),
  /** Null: not known, or not held by this server. */
  idle_seconds: z.number().nullable(),
  /** Why the last attempt did not suspend it. */
  awake_for: z.string().nullable(),
  /** Proportional share of what its processes use. */
  memory_bytes: z.number(),
  processes: z.number(),
  /** Of workspace, home and state. */
  disk_bytes: z.number(),
  /** False: there is more than was counted. */
  disk_is_complete: z.boolean(),
  /** What the agent's programs listen on. */
  ports: z.array(z.number()),
});
export type SandboxInfo = z.output<typeof SandboxInfo>;

export const SandboxList = z.object({ sandboxes: z.array(SandboxInfo) });

/** All: also those of conversations, unless a server holds them. */
export const ReclaimRequest = z.object({ all: z.boolean().default(false) });
export const Reclaimed = z.object({ kept: z.number(), reaped: z.number() });
export type ReclaimRequest = z.output<typeof ReclaimRequest>;
export type Reclaimed = z.output<typeof Reclaimed>;
