import type { Check } from '../check.ts';
import { conversations } from './v0-rest/conversations.ts';
import { history } from './v0-rest/history.ts';
import { access } from './v0-rest/access.ts';
import { network } from './v0-rest/network.ts';
import { output } from './v0-rest/output.ts';
import { ownTools } from './v0-rest/own-tools.ts';
import { previews } from './v0-rest/previews.ts';
import { refusals } from './v0-rest/refusals.ts';
import { options } from './v0-rest/options.ts';
import { settings } from './v0-rest/settings.ts';
import { toolServers } from './v0-rest/mcp-servers.ts';
import { workspace } from './v0-rest/workspace.ts';
import { acting } from './v0-socketio/acting.ts';
import { events } from './v0-socketio/events.ts';
import { kinds } from './v0-socketio/kinds.ts';
import { joining } from './v0-socketio/joining.ts';
import { whole } from './v0-socketio/whole.ts';
import { browsing } from './v0-socketio/tools/browsing.ts';
import { cells } from './v0-socketio/tools/cells.ts';
import { editing } from './v0-socketio/tools/editing.ts';
import { files } from './v0-socketio/tools/files.ts';
import { shell } from './v0-socketio/tools/shell.ts';
import { shellSurvival } from './v0-socketio/tools/shell-survival.ts';
import { skills } from './v0-socketio/tools/skills.ts';
import { askingFirst } from './v0-socketio/agent/asking-first.ts';
import { calls } from './v0-socketio/agent/calls.ts';
import { condensing } from './v0-socketio/agent/condensing.ts';
import { drafting } from './v0-socketio/agent/drafting.ts';
import { knowing } from './v0-socketio/agent/knowing.ts';
import { secrecy } from './v0-socketio/agent/secrecy.ts';
import { halting } from './v0-socketio/agent/halting.ts';
import { logged } from './v0-socketio/agent/logged.ts';
import { states } from './v0-socketio/agent/states.ts';
import { steering } from './v0-socketio/agent/steering.ts';
import { stumbles } from './v0-socketio/agent/stumbles.ts';
import { view } from './v0-socketio/agent/view.ts';
import { sentAgain } from './v0-socketio/sent-again.ts';
import { document } from './events-doc/document.ts';
import { sending } from './events-doc/sending.ts';
import { frontends } from './frontends/frontends.ts';
import { attacks } from './resilience/attacks.ts';
import { resilience } from './resilience/resilience.ts';
import { legacyTelling } from './ws-legacy/telling.ts';
import { generations, peculiar } from './ws-legacy/generations.ts';
import { telling } from './ws-readme/telling.ts';
import { readme } from './ws-readme/readme.ts';

const HANDS = [...shell, ...shellSurvival, ...files, ...editing, ...cells, ...skills, ...browsing];
const MIND = [
  ...calls,
  ...view,
  ...stumbles,
  ...steering,
  ...halting,
  ...states,
  ...logged,
  ...knowing,
  ...condensing,
  ...drafting,
  ...askingFirst,
  ...secrecy,
];
const SOCKET_IO = [...joining, ...whole, ...acting, ...sentAgain, ...events, ...kinds, ...HANDS, ...MIND];
const REST = [
  ...options,
  ...settings,
  ...conversations,
  ...history,
  ...workspace,
  ...output,
  ...network,
  ...access,
  ...previews,
  ...refusals,
  ...toolServers,
  ...ownTools,
];

/** Every check, level by level. */
export const CHECKS: readonly Check[] = [
  ...readme,
  ...telling,
  ...generations,
  ...peculiar,
  ...legacyTelling,
  ...SOCKET_IO,
  ...REST,
  ...frontends,
  ...document,
  ...sending,
  ...resilience,
  ...attacks,
];
