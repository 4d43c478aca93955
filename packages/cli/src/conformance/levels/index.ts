import type { Check } from '../check.ts';
import { conversations } from './v0-rest/conversations.ts';
import { history } from './v0-rest/history.ts';
import { options } from './v0-rest/options.ts';
import { settings } from './v0-rest/settings.ts';
import { workspace } from './v0-rest/workspace.ts';
import { acting } from './v0-socketio/acting.ts';
import { events } from './v0-socketio/events.ts';
import { joining } from './v0-socketio/joining.ts';
import { document } from './events-doc/document.ts';
import { confirmation } from './frontends/confirmation.ts';
import { resilience } from './resilience/resilience.ts';
import { generations, peculiar } from './ws-legacy/generations.ts';
import { readme } from './ws-readme/readme.ts';

const SOCKET_IO = [...joining, ...acting, ...events, ...confirmation];
const REST = [...options, ...settings, ...conversations, ...history, ...workspace];

/** Every check, level by level. */
export const CHECKS: readonly Check[] = [...readme, ...generations, ...peculiar, ...SOCKET_IO, ...REST, ...document, ...resilience];
