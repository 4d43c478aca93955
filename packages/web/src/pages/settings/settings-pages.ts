import { type ComponentType, lazy } from 'react';

export interface SettingsPageInfo {
  /** In its address. */
  readonly id: string;
  readonly title: string;
  /** For whom it holds, and what a conversation may have of its own. */
  readonly holds: string;
  readonly Content: ComponentType;
}

/** Each is loaded when it is looked at. */
export const SETTINGS_PAGES: readonly SettingsPageInfo[] = [
  {
    id: 'models',
    title: 'Models',
    holds: 'For all conversations. One that was given a model of its own stays with it.',
    Content: lazy(async () => ({ default: (await import('./model-setting.tsx')).ModelSetting })),
  },
  {
    id: 'approvals',
    title: 'Approvals and rules',
    holds: 'For all conversations. Rules of one conversation are in its bar.',
    Content: lazy(async () => ({ default: (await import('./approvals-page.tsx')).ApprovalsPage })),
  },
  {
    id: 'limits',
    title: 'Budget and limits',
    holds: 'For each conversation alone: none shares its limit with another.',
    Content: lazy(async () => ({ default: (await import('./limits-setting.tsx')).LimitsSetting })),
  },
  {
    id: 'network',
    title: 'Network',
    holds: 'For all conversations. What was allowed or refused in one holds there alone.',
    Content: lazy(async () => ({ default: (await import('./network-setting.tsx')).NetworkSetting })),
  },
  {
    id: 'sandboxes',
    title: 'Sandboxes',
    holds: 'All of this server. Each conversation has its own.',
    Content: lazy(async () => ({ default: (await import('./sandbox-list.tsx')).SandboxSettings })),
  },
  {
    id: 'secrets',
    title: 'Secrets',
    holds: 'For all conversations.',
    Content: lazy(async () => ({ default: (await import('./secrets-section.tsx')).SecretsSection })),
  },
  {
    id: 'mcp',
    title: 'MCP servers',
    holds: 'For all conversations that were not created with servers of their own.',
    Content: lazy(async () => ({ default: (await import('./mcp-page.tsx')).McpPage })),
  },
  {
    id: 'git',
    title: 'Git accounts',
    holds: 'For all conversations.',
    Content: lazy(async () => ({ default: (await import('./git-accounts.tsx')).GitAccounts })),
  },
  {
    id: 'agents',
    title: 'Agents, skills and notes',
    holds: 'For all conversations. A repository may bring more.',
    Content: lazy(async () => ({ default: (await import('./agents-page.tsx')).AgentsPage })),
  },
  {
    id: 'triggers',
    title: 'Triggers',
    holds: 'Of this server.',
    Content: lazy(async () => ({ default: (await import('./trigger-list.tsx')).TriggerList })),
  },
  {
    id: 'keys',
    title: 'API keys',
    holds: 'Of this server.',
    Content: lazy(async () => ({ default: (await import('./key-list.tsx')).KeySettings })),
  },
  {
    id: 'appearance',
    title: 'Appearance',
    holds: 'In this browser alone.',
    Content: lazy(async () => ({ default: (await import('./appearance-setting.tsx')).AppearanceSetting })),
  },
  {
    id: 'notifications',
    title: 'Notifications',
    holds: 'In this browser alone.',
    Content: lazy(async () => ({ default: (await import('./notification-setting.tsx')).NotificationSetting })),
  },
  {
    id: 'connections',
    title: 'Connections',
    holds: 'In this browser alone.',
    Content: lazy(async () => ({ default: (await import('./connections.tsx')).Connections })),
  },
];
