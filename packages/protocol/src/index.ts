export {
  AGENT_STATES,
  canRequest,
  canTransition,
  IllegalTransition,
  isActive,
  parseAgentState,
  type AgentState,
  type RequestableState,
} from './agent-state.ts';
export { answeredBy, isRunnable, type RunnableKind } from './answered-by.ts';
export { draftFromJson, fromJson, messageOf, toJson, type Json } from './codec.ts';
export { asksPerson, mayNotify, noticeKind, type NoticeKind, type PushMessage } from './notice.ts';
export { cutMiddle, type CutOptions } from './cut-middle.ts';
export { patchedPaths } from './patched-paths.ts';
export { type ActionDefinition, type ActionTraits, type ObservationDefinition } from './define.ts';
export { catalogError, ERRORS, type CatalogError, type ErrorCode } from './error-catalog.ts';
export {
  isAction,
  isObservation,
  isStateEvent,
  isUnknown,
  type Action,
  type ActionDraft,
  type ActionKind,
  type Event,
  type EventAuthor,
  type EventDraft,
  type EventMeta,
  type EventSource,
  type LlmMetrics,
  type ModelResponse,
  type Observation,
  type ObservationDraft,
  type ObservationKind,
  type ParsedAction,
  type TokenUsage,
  type AnswerReasoning,
  type ReasoningPart,
  type ToolCallMetadata,
  type ProviderMetadata,
  type UnknownDraft,
  type UnknownEvent,
} from './event.ts';
export { eventsJsonSchema, type JsonSchema } from './json-schema.ts';
export { ACTIONS, OBSERVATIONS } from './kinds.ts';
export { answerOf, answerReferredTo, callIndex, withAnswer, withAnswerReference, type AnswerExtent } from './model-answer.ts';
export { deltasOf, unlessEnded, withDelta, type PartialAnswer } from './partial-answer.ts';
export { INITIAL_STATE, reduce, takeOverOf, type ConversationState } from './reduce.ts';
export type {
  DelegatedFrame,
  DeltaFrame,
  NetworkFrame,
  OutputFrame,
  PortsFrame,
  ReplayFrame,
  StateFrame,
  StatusFrame,
  TailFrame,
  VolatileFrame,
} from './volatile.ts';
export * from './events/agent.ts';
export * from './events/browse.ts';
export * from './events/checkpoint.ts';
export * from './events/command.ts';
export * from './events/file.ts';
export * from './events/message.ts';
export * from './events/system.ts';
export { currentArgs } from './dialects/current-args.ts';
export type { Decoded, Dialect, Frame, Phase } from './dialects/dialect.ts';
export { eventsDoc } from './dialects/events-doc.ts';
export { opendevinWs, WS_DIALECTS, type WsDialect } from './dialects/opendevin-ws.ts';
export { detectGeneration, type WsEntry, type WsGeneration } from './dialects/opendevin-ws/detect-generation.ts';
export { reasoningText, wireFrame } from './dialects/wire-frame.ts';
export { openhandsV0 } from './dialects/openhands-v0.ts';
export { dialectOfPage } from './dialects/openhands-pages.ts';
export { openhandsV0InBand } from './dialects/openhands-v0-in-band.ts';
export * from './rest/access.ts';
export * from './rest/audit.ts';
export * from './rest/users.ts';
export * from './rest/checkpoints.ts';
export * from './rest/review.ts';
export * from './rest/confirmation.ts';
export * from './rest/delegated.ts';
export * from './rest/question.ts';
export * from './rest/push.ts';
export * from './rest/search.ts';
export * from './rest/conversation.ts';
export * from './rest/events-page.ts';
export * from './rest/failure.ts';
export { failureText } from './rest/failure-text.ts';
export * from './rest/file-node.ts';
export * from './rest/files.ts';
export * from './rest/legacy.ts';
export * from './rest/mcp-config.ts';
export * from './rest/mcp-logins.ts';
export * from './rest/limits.ts';
export * from './rest/retention.ts';
export * from './rest/network.ts';
export * from './rest/server-info.ts';
export * from './rest/models.ts';
export * from './rest/sandbox.ts';
export * from './rest/secrets.ts';
export * from './rest/settings.ts';
export * from './rest/extensions.ts';
export * from './rest/notes.ts';
export * from './rest/triggers.ts';
