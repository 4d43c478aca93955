import type { CreatedShare, ShareInfo } from '@tendon/protocol';
import type { Request } from './request.ts';

const at = (id: string, rest = '') => `/api/conversations/${encodeURIComponent(id)}/shares${rest}`;

/** Links that show one conversation and let nobody do anything. */
export function shareRoutes(request: Request) {
  return {
    list: async (id: string): Promise<readonly ShareInfo[]> => (await request<{ readonly shares: readonly ShareInfo[] }>(at(id))).shares,
    /** The only time that the link itself is shown. */
    create: (id: string, seconds: number) => request<CreatedShare>(at(id), { method: 'POST', body: { expires_in: seconds } }),
    revoke: (id: string, share: string) => request<unknown>(at(id, `/${encodeURIComponent(share)}`), { method: 'DELETE' }),
  };
}
