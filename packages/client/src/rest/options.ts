import type { OptionNames, OptionsConfig, ServerInfo as WireInfo } from '@tendon/protocol';
import type { Request } from './request.ts';

/** `GET /server_info`; the fields here are Tendon's own. */
export type ServerInfo = WireInfo & {
  readonly version?: string;
  readonly sandbox?: { readonly driver: string; readonly strength: 'container' | 'os-sandbox' | 'none'; readonly description?: string };
  /** The model that new conversations get. */
  readonly model?: string;
};

export function optionRoutes(request: Request) {
  return {
    /** litellm names, `provider/model`. */
    models: () => request<OptionNames>('/api/options/models'),
    agents: () => request<OptionNames>('/api/options/agents'),
    securityAnalyzers: () => request<OptionNames>('/api/options/security-analyzers'),
    config: () => request<OptionsConfig>('/api/options/config'),
    serverInfo: (signal?: AbortSignal) => request<ServerInfo>('/server_info', { ...(signal && { signal }) }),
  };
}
