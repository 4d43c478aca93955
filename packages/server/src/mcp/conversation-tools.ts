import type { Clock, OutsideTools, Runtimes } from '@tendon/core';
import type { SandboxRuntimes } from '@tendon/runtime';
import type { StoredConversation } from '../conversations/conversation-records.ts';
import type { SettingsStore } from '../settings/settings.ts';
import type { ConversationToolServers } from './conversation-tool-servers.ts';
import { ToolServers } from './tool-servers.ts';

export interface ConversationToolsParts {
  readonly settings: Pick<SettingsStore, 'toolServers'>;
  readonly toolServers: ConversationToolServers;
  /** The conversation's own way to its sandbox. */
  readonly own: Runtimes;
  readonly runtimes: Pick<SandboxRuntimes, 'ports'>;
  readonly clock: Clock;
  /** One sentence for whoever watches. */
  readonly onProblem: (sentence: string) => void;
}

/** What this conversation's agent is offered beside its own tools. */
export function conversationTools(record: StoredConversation, parts: ConversationToolsParts): OutsideTools {
  const { settings, toolServers, own, runtimes, clock, onProblem } = parts;
  const wished = toolServers.open(record);
  const servers = new ToolServers({
    config: () => wished ?? settings.toolServers,
    clock,
    openProcess: async (signal) => {
      await own.acquire(record.id, { signal });
      const ports = runtimes.ports(record.id);
      if (!ports) throw new Error('the sandbox has gone');
      return ports.openProcess({ signal });
    },
    onProblem,
  });
  return {
    offered: (options) => servers.offered(options),
    call: (action, options) => servers.call(action, options),
    async close() {
      await servers.close();
      toolServers.forget(record.id);
    },
  };
}
