/** Which agent works in a conversation, by its record. */
import {
  customAgent,
  delegateTo,
  findAgent,
  limitTools,
  withOptionalTools,
  withoutBrowsing,
  type Agent,
  type AgentFile,
} from '@tendon/core';
import type { ConversationConfig } from '../../platform/config/config.ts';
import { depthOf, type StoredConversation } from '../conversation-records.ts';

type AgentRecord = Pick<StoredConversation, 'agent' | 'agent_file' | 'agent_changed' | 'read_only' | 'delegated_by'>;

/** As deep as the configuration allows: who was asked last does the work itself. Each knows only its task. `others`: whom it can ask beside those that are built in. */
export function agentOf(record: AgentRecord, config: ConversationConfig, others: readonly AgentFile[]): Agent {
  const tools = record.delegated_by ? config.tools.filter((name) => name !== 'recall' && name !== 'note') : config.tools;
  const usual = withOptionalTools(named(record), tools);
  const able = config.browsing ? usual : withoutBrowsing(usual);
  const asking = mayDelegate(record, config) ? { ...able, tools: [...able.tools, delegateTo(others)] } : able;
  return {
    ...limitTools(asking, record.agent_file?.tools),
    ...(record.agent_changed && { replaces: true as const }),
    ...(worksReadOnly(record) && { isReadOnly: true as const }),
  };
}

export function mayDelegate(
  record: Pick<AgentRecord, 'delegated_by'>,
  { maxDelegateDepth }: Pick<ConversationConfig, 'maxDelegateDepth'>,
): boolean {
  return depthOf(record) < maxDelegateDepth;
}

/** Whether the conversation's sandbox mounts its workspace read-only: because its agent does, or the one that asked for it. */
export function worksReadOnly(record: Pick<AgentRecord, 'agent' | 'agent_file' | 'read_only'>): boolean {
  return record.read_only === true || named(record).isReadOnly === true;
}

function named({ agent, agent_file: file }: Pick<AgentRecord, 'agent' | 'agent_file'>): Agent {
  return file ? customAgent(file) : findAgent(agent);
}
