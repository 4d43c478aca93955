/** For tests: a conversation in a folder of this machine. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, testServer, type TestServer } from '../server.test-support.ts';

export interface Place {
  readonly server: TestServer;
  readonly base: string;
  get(path: string): Promise<readonly [number, unknown]>;
  put(path: string, text: string): void;
}

/** A conversation that works in a folder of this machine. */
export async function place(): Promise<Place & { readonly url: string }> {
  const base = temporaryFolder();
  const server = await testServer({ env: { WORKSPACE_BASE: base } });
  const url = `/api/conversations/${await server.create()}`;
  return {
    server,
    base,
    url,
    async get(path) {
      const response = await server.get(url + path);
      return [response.status, await response.json()];
    },
    put(path, text) {
      mkdirSync(join(base, path, '..'), { recursive: true });
      writeFileSync(join(base, path), text);
    },
  };
}
