import type { Settings, SettingsUpdate } from '@tendon/protocol';
import { ApiError } from './api-error.ts';
import type { Request } from './request.ts';

export type SettingsPatch = Partial<SettingsUpdate>;

export function settingsRoutes(request: Request) {
  const get = async (signal?: AbortSignal): Promise<Settings | null> => {
    try {
      return await request<Settings>('/api/settings', { ...(signal && { signal }) });
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    }
  };
  return {
    /** `null` until something was stored. */
    get,
    /** The route replaces (0.62), so what is stored is read first and sent back with the changes. Two writers at once: the last one wins. */
    patch: async (changes: SettingsPatch): Promise<void> => {
      const { llm_api_key: _masked, ...stored } = (await get()) ?? {};
      await request('/api/settings', { method: 'POST', body: { ...stored, ...changes } });
    },
  };
}
