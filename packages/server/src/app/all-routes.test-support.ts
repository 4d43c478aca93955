import type { Engine } from './engine.ts';
import { CLIENT_TIMEOUTS } from '../platform/http/client-timeouts.ts';
import { createApp } from './http-app.ts';
import { RESOURCES } from './resources.ts';
import type { ServerContext } from './context.ts';

export interface Route {
  readonly method: string;
  readonly url: string;
}

/** Every route there is but preflights, from the app itself. */
export async function allRoutes({ engine }: { readonly engine: Engine }): Promise<readonly Route[]> {
  const routes: Route[] = [];
  const config = { host: '127.0.0.1', allowedHosts: [], corsOrigins: [] };
  const context = { config, engine, timeouts: CLIENT_TIMEOUTS } as unknown as ServerContext;
  const app = await createApp(context, RESOURCES, async (recording) => {
    recording.addHook('onRoute', ({ method, url }) => {
      for (const name of [method].flat()) routes.push({ method: name, url });
    });
  });
  await app.ready();
  await app.close();
  return routes.filter(({ method }) => method !== 'OPTIONS');
}

/** Those that may be asked for one after the other: a server that drains refuses what would come next. */
export async function askableRoutes(server: { readonly engine: Engine }): Promise<readonly Route[]> {
  return (await allRoutes(server)).filter(({ url }) => url !== '/cluster/drain');
}
