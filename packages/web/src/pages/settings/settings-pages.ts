import type { ComponentType } from 'react';
import { type PlainText, textKey } from '../../lib/language/text.ts';
import { lazyPart } from '../../lib/lazy-part.ts';

export interface SettingsPageInfo {
  /** Its name in the address. */
  readonly id: string;
  readonly title: PlainText;
  /** For whom the settings apply, and which of them a conversation can override. */
  readonly holds: PlainText;
  readonly Content: ComponentType;
  /** Shown only if the server has users. */
  readonly isOfUsers?: true;
}

/** Each page is loaded when it is first opened. */
export const SETTINGS_PAGES: readonly SettingsPageInfo[] = [
  {
    id: 'models',
    title: textKey('Models'),
    holds: textKey('For all conversations. One that was given a model of its own stays with it.'),
    Content: lazyPart(async () => ({ default: (await import('./model-setting.tsx')).ModelSetting })),
  },
  {
    id: 'approvals',
    title: textKey('Approvals and rules'),
    holds: textKey('For all conversations. Rules of one conversation are in its bar.'),
    Content: lazyPart(async () => ({ default: (await import('./approvals-page.tsx')).ApprovalsPage })),
  },
  {
    id: 'limits',
    title: textKey('Budget and limits'),
    holds: textKey('For each conversation alone: none shares its limit with another.'),
    Content: lazyPart(async () => ({ default: (await import('./limits-setting.tsx')).LimitsSetting })),
  },
  {
    id: 'network',
    title: textKey('Network'),
    holds: textKey('For all conversations. What was allowed or refused in one holds there alone.'),
    Content: lazyPart(async () => ({ default: (await import('./network-setting.tsx')).NetworkSetting })),
  },
  {
    id: 'sandboxes',
    title: textKey('Sandboxes'),
    holds: textKey('All of this server. Each conversation has its own.'),
    Content: lazyPart(async () => ({ default: (await import('./sandbox-list.tsx')).SandboxSettings })),
  },
  {
    id: 'secrets',
    title: textKey('Secrets'),
    holds: textKey('For all conversations.'),
    Content: lazyPart(async () => ({ default: (await import('./secrets-section.tsx')).SecretsSection })),
  },
  {
    id: 'mcp',
    title: textKey('MCP servers'),
    holds: textKey('For all conversations that were not created with servers of their own.'),
    Content: lazyPart(async () => ({ default: (await import('./mcp-page.tsx')).McpPage })),
  },
  {
    id: 'git',
    title: textKey('Git accounts'),
    holds: textKey('For all conversations.'),
    Content: lazyPart(async () => ({ default: (await import('./git-accounts.tsx')).GitAccounts })),
  },
  {
    id: 'agents',
    title: textKey('Agents, skills and notes'),
    holds: textKey('For all conversations. A repository may bring more.'),
    Content: lazyPart(async () => ({ default: (await import('./agents-page.tsx')).AgentsPage })),
  },
  {
    id: 'triggers',
    title: textKey('Triggers'),
    holds: textKey('Of this server.'),
    Content: lazyPart(async () => ({ default: (await import('./trigger-list.tsx')).TriggerList })),
  },
  {
    id: 'members',
    title: textKey('Members'),
    holds: textKey('Of your organisation; of all where you administer the server.'),
    Content: lazyPart(async () => ({ default: (await import('./member-list.tsx')).MemberList })),
    isOfUsers: true,
  },
  {
    id: 'keys',
    title: textKey('API keys'),
    holds: textKey('Of this server.'),
    Content: lazyPart(async () => ({ default: (await import('./key-list.tsx')).KeySettings })),
  },
  {
    id: 'appearance',
    title: textKey('Appearance'),
    holds: textKey('In this browser alone.'),
    Content: lazyPart(async () => ({ default: (await import('./appearance-setting.tsx')).AppearanceSetting })),
  },
  {
    id: 'notifications',
    title: textKey('Notifications'),
    holds: textKey('Of this device. The list has all of yours.'),
    Content: lazyPart(async () => ({ default: (await import('./notification-setting.tsx')).NotificationSetting })),
  },
  {
    id: 'connections',
    title: textKey('Connections'),
    holds: textKey('In this browser alone.'),
    Content: lazyPart(async () => ({ default: (await import('./connections.tsx')).Connections })),
  },
];
