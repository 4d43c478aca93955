import { EXECUTOR_API } from '@tendon/runtime';
import { createHostApp } from './host-app.ts';
import { recordRoutes, systemClock } from '@tendon/server/platform';
import { type HostContext, HOST_TIMEOUTS } from './host-context.ts';

const DESCRIPTION = `What \`tendon executor\` answers. The routes at the root are those of one sandbox of its own, under the names that
such programs have always had. Below \`/sandboxes/{incarnation}\` are the sandboxes that it runs for remote servers.`;

/** Nothing of it is looked at while routes are registered. */
const NOTHING = {
  access: { host: '', allowedHosts: [], key: undefined },
  timeouts: HOST_TIMEOUTS,
  clock: systemClock,
} as unknown as HostContext;

/** OpenAPI of every route. */
export function hostOpenApi(): Promise<object> {
  const info = { title: 'Tendon executor', version: String(EXECUTOR_API), description: DESCRIPTION.replaceAll('\n', ' ') };
  return recordRoutes((prepare) => createHostApp(NOTHING, prepare), info);
}
