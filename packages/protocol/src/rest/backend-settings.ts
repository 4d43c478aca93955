import { z } from 'zod';

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
