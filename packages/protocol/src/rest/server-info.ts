import { z } from 'zod';

/** `GET /api/options/config`. Optional keys are read by some frontends only. */
export const OptionsConfig = z.object({
  APP_MODE: z.literal('oss'),
  GITHUB_CLIENT_ID: z.string(),
  POSTHOG_CLIENT_KEY: z.string(),
  FEATURE_FLAGS: z.record(z.string(), z.boolean()),
  PROVIDERS_CONFIGURED: z.array(z.string()).optional(),
  APP_SLUG: z.string().optional(),
  AUTH_URL: z.string().optional(),
  MAINTENANCE: z.object({ startTime: z.string() }).optional(),
});
export type OptionsConfig = z.output<typeof OptionsConfig>;

/** Of models, agents and security analyzers: sorted names. */
export const OptionNames = z.array(z.string());
export type OptionNames = z.output<typeof OptionNames>;

/** Bytes and seconds; percent 0…100. */
export const ServerInfo = z.object({
  uptime: z.number(),
  idle_time: z.number(),
  resources: z.object({
    cpu_percent: z.number(),
    memory: z.object({ rss: z.number(), vms: z.number(), percent: z.number() }),
    disk: z.object({ total: z.number(), used: z.number(), free: z.number(), percent: z.number() }),
    io: z.object({ read_bytes: z.number(), write_bytes: z.number() }),
  }),
});
export type ServerInfo = z.output<typeof ServerInfo>;

export const Alive = z.object({ status: z.literal('ok') });
export type Alive = z.output<typeof Alive>;

/** What the Mac client stores of a server. Our port is 3000; the example in `openhands-events.md` has 8000. */
export const BackendSettings = z.object({
  backend_host: z.string().min(1).default('localhost'),
  backend_port: z.coerce.number().int().min(1).max(65_535).default(3000),
  use_tls: z.boolean().default(false),
});
export type BackendSettings = z.output<typeof BackendSettings>;

/**
 * The addresses a client needs, from its settings alone.
 * @public
 */
export function addressesOf(settings: BackendSettings): { readonly http: string; readonly ws: string } {
  const host = settings.backend_host.includes(':') ? `[${settings.backend_host.replace(/^\[|\]$/g, '')}]` : settings.backend_host;
  const secure = settings.use_tls ? 's' : '';
  return { http: `http${secure}://${host}:${settings.backend_port}`, ws: `ws${secure}://${host}:${settings.backend_port}/ws` };
}
