import type { Check } from '../check.ts';
import { restConversations } from './v0-rest/conversations.ts';
import { socketIoBasics } from './v0-socketio/basics.ts';
import { wsReadme } from './ws-readme.ts';

/** Every check, level by level. */
export const CHECKS: readonly Check[] = [...wsReadme, ...socketIoBasics, ...restConversations];
