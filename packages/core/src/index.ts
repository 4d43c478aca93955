export type { Agent, PromptContext } from './agents/agent.ts';
export {
  codeActAgent,
  OPTIONAL_TOOL_NAMES,
  USUAL_TOOLS,
  withOptionalTools,
  withoutBrowsing,
  type OptionalTool,
} from './agents/code-act-agent.ts';
export { agentNames, findAgent } from './agents/registry.ts';
export { customAgent, limitTools } from './agents/custom-agent.ts';
export type { AgentFile } from './knowledge/agent-file.ts';
export { outsideText } from './prompt/outside-text.ts';
export { isPlanApproval } from './tools/present-plan.ts';
export { KeyedMutex, KeyedSemaphore, type Release } from './async/keyed-semaphore.ts';
export type { Clock } from './async/clock.ts';
export { startDeadline } from './async/deadline.ts';
export { attemptThroughOutage, type OutageWait } from './async/outage.ts';
export type { Conversation, SubmitResult } from './conversation/conversation.ts';
export { openConversation, type ConversationSettings, type OpenConversationOptions } from './conversation/open-conversation.ts';
export { excerptAround, searchedWords } from './knowledge/search-messages.ts';
export type { KnowledgeSources } from './knowledge/library.ts';
export { suggestRules } from './policy/suggest-rules.ts';
export { wouldLift } from './policy/would-lift.ts';
export type { ConfirmationSettings } from './policy/confirmation-policy.ts';
export { awaitsConfirmation, nextPending } from './engine/next-step.ts';
export { REASONING_EFFORTS, TOOL_CALLING, withStream } from './llm/llm-provider.ts';
export { splitModelName } from './llm/model-name.ts';
export { ModelTraitsBook, type LearnedTraits } from './llm/model-traits.ts';
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
  ReasoningEffort,
  ToolCalling,
} from './llm/llm-provider.ts';
export { withLogMethods } from './log/event-log.ts';
export { loggedEvents, loggedIdOf } from './log/read-pages.ts';
export type { AppendOptions, EventLog, EventStore, LogSnapshot, ReadRange, SourcedDraft } from './log/event-log.ts';
export { failureFor, StorageError, type StorageErrorCode } from './log/storage-error.ts';
export type {
  ExecuteOptions,
  ExecuteResult,
  OutputChunk,
  RunnableAction,
  Checkpoint,
  Checkpoints,
  Runtime,
  RuntimeFacts,
  Runtimes,
  StartPhase,
  Strength,
  WorkspaceFiles,
} from './sandbox/runtime.ts';
export type {
  HookMoment,
  HookEvent,
  HookAnswer,
  Hooks,
  Analysis,
  RiskAnalyzer,
  DelegatedTask,
  Delegation,
  Delegate,
  PastHit,
  PastHits,
  SearchPast,
  Note,
  Noted,
  TakeNote,
  AskUser,
  ExternalTools,
} from './engine/host-capabilities.ts';
export { costOf, spentOf } from './engine/spent.ts';
export type { NoteFile } from './knowledge/note-file.ts';
export { unanalyzed } from './engine/analyze-actions.ts';
export type { IdRange, PageIndex } from './storage/page-index.ts';
export type { ConversationRef, Place, Placement, Scheduler, SchedulerHandlers, ServerNode } from './scheduling/scheduler.ts';
export type { ConversationRecord, RecordStore, Storage, StoredRecord } from './storage/storage.ts';
export { delegateTo } from './tools/delegate.ts';
export { defineTool } from './tools/define-tool.ts';
export type { Tool, ToolCallResult } from './tools/define-tool.ts';
