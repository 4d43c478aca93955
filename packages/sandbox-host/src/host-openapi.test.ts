import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { executorOpenApi } from './index.ts';
import { allHostRoutes, testHost } from './host.test-support.ts';

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly summary?: string }>>>>;
}

it('RT204: the document in docs is what the routes say; `tendon executor --openapi > docs/executor-openapi.json` writes it', async () => {
  const committed = await readFile(new URL('../../../docs/executor-openapi.json', import.meta.url), 'utf8');
  expect(JSON.parse(committed)).toEqual(JSON.parse(await executorOpenApi()));
});

it('RT204: it is served, and has every route with a summary', async () => {
  const host = await testHost();
  const document = (await (await host.call('GET', '/openapi.json')).json()) as Document;
  expect(document.openapi).toBe('3.1.0');
  for (const { method, url } of await allHostRoutes()) {
    if (method === 'HEAD' || url === '/openapi.json') continue;
    const described = document.paths[url.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
    expect([method, url, typeof described?.summary]).toEqual([method, url, 'string']);
  }
});
