import { GIT_BROKER_NAME } from '@tendon/protocol/executor-api';
import { Refused } from './dial.ts';
import type { GitBroker } from './git-broker.ts';
import { readGitRequest } from './git-request.ts';
import type { Dial } from './listen-proxy.ts';
import { passOn } from './pass-on.ts';

/**
 * Stands where a broker would, on a host that has no tokens and shall have none: each request of git's own protocol goes to the
 * broker of the sandbox's server, over a connection that `dial` has from there. `dial` is asked with the git host, so that
 * the policy of this side is kept too.
 */
export function createGitRelay(dial: Dial): GitBroker {
  return async (request, response, url, signal) => {
    const asked = readGitRequest(request.method ?? '', url);
    if (asked === undefined) throw new Refused(`${GIT_BROKER_NAME} takes requests of git's own protocol and nothing else`);
    const { hostname, port } = new URL(`https://${asked.host}`);
    const socket = await dial(hostname, Number(port || 443), signal);
    await passOn(request, response, { socket, path: url.href, host: GIT_BROKER_NAME });
  };
}
