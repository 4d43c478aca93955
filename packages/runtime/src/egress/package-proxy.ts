import type { IncomingMessage, ServerResponse } from 'node:http';
import { KERNEL_PACKAGES_NAME, type PackagesLine, type PythonKind, sharedKind } from '@tendon/protocol/executor-api';
import { AddressRefused } from './dial.ts';

export type PackageProxy = (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void>;

export interface PackageSource {
  /** Resolves when `<folder>/<tag>` is there, or with the reason why it cannot be had. A late caller gets the earlier output too. */
  provide(folder: string, kind: PythonKind, output: (text: string) => void): Promise<string | undefined>;
}

export interface PackageProxyOptions {
  readonly packages: PackageSource;
  /** What this sandbox sees of them, on the host. */
  readonly folder: string;
  /** Whether this sandbox may have something fetched from a network now. */
  readonly isOnline: () => Promise<boolean>;
}

/** Answers one sandbox, in which everybody can ask: all that is to be had is a package that is the same for all. */
export function createPackageProxy({ packages, folder, isOnline }: PackageProxyOptions): PackageProxy {
  return async (request, response, url) => {
    const kind = sharedKind(url.pathname.slice(1));
    if (request.method !== 'POST' || kind === undefined)
      throw new AddressRefused(`${KERNEL_PACKAGES_NAME} takes POST /cpython-3<minor> and nothing else`);
    if (!(await isOnline())) throw new AddressRefused('this conversation has no network (policy "none")');
    request.resume();
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    const say = (line: PackagesLine): void => void (response.writable && response.write(`${JSON.stringify(line)}\n`));
    const reason = await packages.provide(folder, kind, (output) => say({ output }));
    say(reason === undefined ? { ready: true } : { ready: false, reason });
    response.end();
  };
}
