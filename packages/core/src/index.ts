export type { Agent, PromptContext } from './agents/agent.ts';
export type { Clock } from './clock.ts';
export type { Conversation, SubmitResult } from './conversation/conversation.ts';
export type {
  LlmAnswer,
  LlmEvent,
  LlmFailure,
  LlmMessage,
  LlmProvider,
  LlmRequest,
  LlmToolCall,
  LlmToolSpec,
  LlmUsage,
} from './llm/llm-provider.ts';
export { AppendConflict, type EventLog, type EventStore, type ReadRange, type SourcedDraft } from './log/event-log.ts';
export { StorageError, type StorageErrorCode } from './log/storage-error.ts';
export type {
  ExecuteOptions,
  ExecuteResult,
  OutputChunk,
  RunnableAction,
  Runtime,
  Runtimes,
  StartPhase,
  Strength,
  WorkspaceFiles,
} from './runtime.ts';
export { MIN_SECRET_LENGTH, Secret } from './secret.ts';
export type { ConversationRecord, RecordStore, Storage, StoredRecord } from './storage/storage.ts';
export type { Tool, ToolCallResult } from './tools/tool.ts';
