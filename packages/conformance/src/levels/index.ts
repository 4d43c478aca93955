import type { Check } from '../check.ts';
import { document } from './events-doc/document.ts';
import { sending } from './events-doc/sending.ts';
import { opendevinPages } from './frontends/opendevin-pages.ts';
import { openhandsPages } from './frontends/openhands-pages.ts';
import { pages } from './frontends/pages.ts';
import { reconnecting } from './frontends/reconnecting.ts';
import { scripts } from './frontends/scripts.ts';
import { shown } from './frontends/shown.ts';
import { attacks } from './resilience/attacks.ts';
import { resilience } from './resilience/resilience.ts';
import { access } from './v0-rest/access.ts';
import { conversations } from './v0-rest/conversations.ts';
import { history } from './v0-rest/history.ts';
import { mcp } from './v0-rest/mcp.ts';
import { network } from './v0-rest/network.ts';
import { options } from './v0-rest/options.ts';
import { output } from './v0-rest/output.ts';
import { previews } from './v0-rest/previews.ts';
import { refusals } from './v0-rest/refusals.ts';
import { settings } from './v0-rest/settings.ts';
import { undo } from './v0-rest/undo.ts';
import { workspace } from './v0-rest/workspace.ts';
import { acting } from './v0-socketio/acting.ts';
import { calls } from './v0-socketio/agent/calls.ts';
import { condensing } from './v0-socketio/agent/condensing.ts';
import { confirmation } from './v0-socketio/agent/confirmation.ts';
import { drafts } from './v0-socketio/agent/drafts.ts';
import { failures } from './v0-socketio/agent/failures.ts';
import { microagents } from './v0-socketio/agent/microagents.ts';
import { eventLog } from './v0-socketio/agent/event-log.ts';
import { secrets } from './v0-socketio/agent/secrets.ts';
import { states } from './v0-socketio/agent/states.ts';
import { steering } from './v0-socketio/agent/steering.ts';
import { view } from './v0-socketio/agent/view.ts';
import { delivery } from './v0-socketio/delivery.ts';
import { events } from './v0-socketio/events.ts';
import { joining } from './v0-socketio/joining.ts';
import { kinds } from './v0-socketio/kinds.ts';
import { browsing } from './v0-socketio/tools/browsing.ts';
import { cells } from './v0-socketio/tools/cells.ts';
import { editing } from './v0-socketio/tools/editing.ts';
import { files } from './v0-socketio/tools/files.ts';
import { shell } from './v0-socketio/tools/shell.ts';
import { legacyFrames } from './ws-legacy/frames.ts';
import { generations, peculiar } from './ws-legacy/generations.ts';
import { readmeFrames } from './ws-readme/frames.ts';
import { readme } from './ws-readme/readme.ts';

const TOOLS = [shell, files, editing, cells, browsing];
const AGENT = [calls, view, failures, steering, states, eventLog, microagents, condensing, drafts, confirmation, secrets];
const SOCKET_IO = [joining, delivery, acting, events, kinds, ...TOOLS, ...AGENT];
const REST = [options, settings, conversations, history, workspace, output, undo, network, access, previews, refusals, mcp];
/** What the frontends of the releases do beside speaking their protocol, each check on the level of its protocol. */
const FRONTENDS = [reconnecting, pages, shown, scripts, opendevinPages, openhandsPages];

/** Every check, level by level. */
export const CHECKS: readonly Check[] = [
  [readme, readmeFrames],
  [generations, peculiar, legacyFrames],
  SOCKET_IO,
  REST,
  FRONTENDS,
  [document, sending],
  [resilience, attacks],
].flat(2);
