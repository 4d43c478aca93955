export type { ComposeOptions } from './app/compose.ts';
/** @internal */
export { readConfig, type Config, type ConfigResult } from './platform/config/config.ts';
export type { StoredConversation } from './conversations/conversation-records.ts';
export type { CreateConversationParams } from './conversations/create-conversation-params.ts';
export { ConversationRegistry } from './conversations/conversation-registry.ts';
export { Conversations } from './conversations/conversations.ts';
export type { CreateResult } from './conversations/new-conversations.ts';
export type { Engine } from './app/engine.ts';
export { createLogger, type Logger } from './platform/logger.ts';
export { serve } from './main.ts';
export type { OpenConversation } from './conversations/open-conversations.ts';
export { startServer, /** @internal */ type RunningServer, /** @internal */ type ServerOptions } from './app/start-server.ts';
export { systemClock } from './platform/system-clock.ts';
