export { composeEngine, type ComposeOptions } from './compose.ts';
export { readConfig, type Config, type ConfigResult } from './config.ts';
export { Conversations, type ConversationWish, type Created, type StoredConversation } from './conversations.ts';
export type { Engine } from './engine.ts';
export { createLogger, type Logger } from './logger.ts';
export { serve } from './main.ts';
export type { Room } from './room.ts';
export { startServer, type RunningServer, type ServerOptions } from './start-server.ts';
export { systemClock } from './system-clock.ts';
