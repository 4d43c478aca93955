import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import type { Storage } from '@tendon/core';
import type { SandboxPoolOptions } from '@tendon/runtime';
import { createTestSandboxes, type TestSandboxes } from '@tendon/runtime/testing';
import { openDriver, openStorage } from './sandbox-drivers.ts';
import { servers, startServer, type SandboxServer } from './sandbox-server-process.ts';

/** A folder of state that outlives the servers of one test: processes that are killed, and this one, which takes over. */
export interface SandboxStage {
  /** A path below its folder. */
  path(...names: readonly string[]): string;
  /** A server in a process of its own that acquires a sandbox and carries out a command, or browses an address. */
  serve(command: string, options?: ServeOptions): SandboxServer;
  /** The next server, in this process, over what the one before has left. */
  takeOver(options?: Partial<SandboxPoolOptions>, driver?: string): Promise<TestSandboxes>;
}

export interface ServeOptions {
  /** The id of its event. */
  readonly id?: number;
  readonly leaseSeconds?: number;
  /** Until the sandbox hibernates. */
  readonly idleMs?: number;
}

/** For the tests of one file or `describe`; `driver` as `openDriver` names it. */
export function sandboxStage(driver: string): SandboxStage {
  let folder = '';
  let storage: Storage | undefined;
  let sandboxes: TestSandboxes | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tendon-fault-'));
  });
  afterEach(async () => {
    for (const child of servers.splice(0)) child.kill('SIGKILL');
    await sandboxes?.close();
    await storage?.close();
    sandboxes = storage = undefined;
    rmSync(folder, { recursive: true, force: true });
  });

  return {
    path: (...names) => join(folder, ...names),
    serve: (command, { id = 1, leaseSeconds = 600, idleMs = 600_000 } = {}) =>
      startServer([folder, driver, command, String(id), String(leaseSeconds), String(idleMs)]),
    async takeOver(options = {}, other = driver) {
      storage ??= await openStorage(folder);
      const workspaceOf = async () => ({ hostPath: join(folder, 'workspace') });
      sandboxes = createTestSandboxes(openDriver(other), { folder, records: storage.records, workspaceOf, ...options });
      return sandboxes;
    },
  };
}
