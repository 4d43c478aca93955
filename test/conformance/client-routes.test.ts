import { createRest } from '@tendon/client';
import { expect, it } from 'vitest';
import { testServer } from '../../packages/server/src/server.test-support.ts';

/** Routes that the SDK asks by no method, and why. */
const BY_NO_METHOD: readonly { readonly why: string; readonly routes: readonly RegExp[] }[] = [
  { why: 'It is for the senders of webhooks, who sign what they send.', routes: [/^POST \/api\/triggers\/\{id\}\/webhook$/] },
  { why: 'It speaks MCP, for which there are clients.', routes: [/ \/mcp\/mcp$/] },
  {
    why: 'Names of the same under which older frontends ask.',
    routes: [
      / \/(?!api|server_info|mcp|alive|health|metrics)/,
      / \/api\/github\//,
      / \/api\/(litellm|messages|list-files|auth|agents|default)/,
    ],
  },
  {
    why: 'Frontends read them and find nothing to show.',
    routes: [/ \/api\/v1\//, /exp-config|microagent-management|\/security\//, /configurations/],
  },
  { why: 'Another spelling of remember-prompt.', routes: [/remember_prompt$/] },
];

type Routes = Readonly<Record<string, unknown>>;

/** Every function of the client, called with what some take for their arguments; what it then does with the answer does not matter. */
async function callAll(routes: Routes): Promise<void> {
  for (const [name, route] of Object.entries(routes)) {
    if (['apiKey', 'cancelledBy'].includes(name)) continue;
    if (typeof route === 'object') await callAll(route as Routes);
    if (typeof route !== 'function') continue;
    const call = route as (...args: readonly unknown[]) => Promise<unknown>;
    const words = name === 'upload' ? [['one', []]] : [['one', 'two', 'three'], ['one'], []];
    for (const args of words) await (async () => call(...args))().catch(() => undefined);
  }
}

function isOne(asked: string, template: string): boolean {
  const pattern = template.replaceAll(/\{\*\}/g, '.+').replaceAll(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${pattern}$`).test(asked);
}

it('CK961: the SDK has a method for each route that a client may use, and none without a route', async () => {
  const asked = new Set<string>();
  const send: typeof fetch = (url, init) => {
    asked.add(`${init?.method ?? 'GET'} ${new URL(String(url)).pathname}`);
    return Promise.resolve(new Response('{}'));
  };
  await callAll(createRest({ baseUrl: 'http://tendon.example', fetch: send }));
  const server = await testServer({ script: [] });
  const { paths } = (await (await server.get('/openapi.json')).json()) as { paths: Readonly<Record<string, object>> };
  const served = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const exempt = BY_NO_METHOD.flatMap(({ routes }) => routes);
  const missing = served.filter((route) => ![...asked].some((one) => isOne(one, route)) && !exempt.some((pattern) => pattern.test(route)));
  expect(missing).toEqual([]);
  expect([...asked].filter((one) => one !== 'POST /api/logout' && !served.some((route) => isOne(one, route)))).toEqual([]);
});
