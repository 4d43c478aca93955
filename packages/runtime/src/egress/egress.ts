import { GIT_BROKER_NAME } from '@tendon/protocol/executor-api';
import type { BoundSecret } from '@tendon/protocol/masking';
import { createDial, createDialAnywhere, AddressRefused, type Dial } from './dial.ts';
import { dialThrough, type UpstreamProxy } from './dial-through.ts';
import { createGitBroker, type GitAccess, type GitBroker, readGitRequest } from './git-broker.ts';
import type { NameHold } from './held-tunnel.ts';
import type { ProxyOptions } from './listen-proxy.ts';
import { createHostsFile, createNameLookup } from './name-lookup.ts';
import {
  DEFAULT_NETWORK,
  isHeldToName,
  type NetworkPolicy,
  isAskable,
  isOpenedPrivately,
  nameRefusal,
  plainName,
} from './network-policy.ts';
import { createReachedRecord, type ReachedHost, type ReachedHosts, type ReachedStore } from './reached-hosts.ts';
import { createRefusedHosts, type RefusedHost, type RefusedHosts } from './refused-hosts.ts';
import { passOn } from './pass-on.ts';

/**
 * Asks a person whether the sandbox may reach a name. May wait for the answer; resolves when the policy is to be looked at again. The
 * text, if there is one, says why a connection is refused all the same.
 */
export type AskPerson = (conversationId: string, place: { readonly host: string; readonly port: number }) => Promise<string | undefined>;

/** The tokens and secrets that the proxy adds, and to which hosts. */
interface EgressTokens {
  /** Default: git goes where everything goes, without a token. */
  readonly git?: (conversationId: string) => GitAccess;
  /** Where the tokens are with somebody else: their git hosts, and connections to the broker there. */
  readonly remoteGit?: (conversationId: string) => RemoteGit | undefined;
  /** Secrets that may go to some hosts alone, as of now; default: none. */
  readonly boundSecrets?: (conversationId: string) => Promise<readonly BoundSecret[]>;
}

export interface EgressOptions extends EgressTokens {
  readonly upstreamProxy?: UpstreamProxy;
  /** `address:port` of the resolvers that sandboxes' names are asked of. Default: the host's. */
  readonly nameServers?: readonly string[];
  /** Asked for each connection. Default: the public internet. */
  readonly networkOf?: (conversationId: string) => Promise<NetworkPolicy>;
  /** Default: what is not on the list is refused. */
  readonly askPerson?: AskPerson;
  /** Default: what was reached is known to this process alone. */
  readonly reached?: ReachedStore;
  readonly notice: (notice: string) => void;
  /** Milliseconds since some beginning; they bound what is logged. */
  readonly now?: () => number;
}

export interface RemoteGit {
  readonly hosts: readonly string[];
  /** A connection to the broker, whichever host it is asked for. */
  readonly dial: Dial;
}

/** How the sandboxes of one server reach the world: each by its conversation's policy. */
export interface Egress {
  /** `ownDial`: for what asks in the sandbox's name; it goes no further, and is nothing that the sandbox reached. */
  of(conversationId: string): ProxyOptions & { readonly dial: Dial; readonly ownDial: Dial };
  policyOf(conversationId: string): Promise<NetworkPolicy>;
  /** Missing where nobody is asked. */
  readonly askPerson: AskPerson | undefined;
  gitHosts(conversationId: string): Promise<readonly string[]>;
  refusedHosts(conversationId: string): readonly RefusedHost[];
  reachedHosts(conversationId: string): Promise<readonly ReachedHost[]>;
  /** What was refused; with `forGood` also what was reached. */
  forget(conversationId: string, options: { readonly forGood: boolean }): Promise<void>;
  /** Resolves when what was reached is stored. */
  close(): Promise<void>;
}

/** What is remembered of a conversation, whichever sandbox it has. */
interface Refusals {
  readonly hosts: RefusedHosts;
  readonly log: RefusalLog;
}

export function createEgress(options: EgressOptions): Egress {
  const { upstreamProxy, nameServers, networkOf, askPerson, git, remoteGit, boundSecrets, notice } = options;
  const hosts = createHostsFile();
  const dialAnywhere = createDialAnywhere();
  const refusals = new Map<string, Refusals>();
  const record = createReachedRecord(options.reached);

  function refusalsOf(conversationId: string): Refusals {
    const known = refusals.get(conversationId) ?? newRefusals(options);
    refusals.set(conversationId, known);
    return known;
  }

  /** With lookups of its own: what one sandbox asks for leaves the others theirs. */
  function reachOf(): Dial {
    const lookUp = createNameLookup({ hosts, ...(nameServers && { servers: nameServers }) });
    return upstreamProxy ? dialThrough(upstreamProxy, lookUp) : createDial(lookUp);
  }

  const policyOf = async (conversationId: string): Promise<NetworkPolicy> => (await networkOf?.(conversationId)) ?? DEFAULT_NETWORK;

  return {
    policyOf,
    askPerson,
    of(conversationId) {
      const { hosts: refused, log } = refusalsOf(conversationId);
      const reached = record.of(conversationId);
      const onRefused = (place: string, reason: string): void =>
        log.write(`the sandbox of conversation ${conversationId} may not connect to ${place}: ${reason}`);
      const hold: NameHold = {
        applies: async (host, port) => isHeldToName(await policyOf(conversationId), host, port),
        onRefused: (host, port, reason) => void (refused.note(host, port, reason) && onRefused(`${host}:${port}`, reason)),
      };
      const policed = (by: Pick<PolicedDialOptions, 'dial' | 'dialAnywhere' | 'reached'>): Dial =>
        policedDial({
          policy: () => policyOf(conversationId),
          ...by,
          ask: askPerson && ((host, port) => askPerson(conversationId, { host, port })),
          refused,
          onRefused,
        });
      const ownDial = policed({ dial: reachOf(), dialAnywhere });
      const shared = { hold, ownDial, ...(boundSecrets && { boundSecrets: () => boundSecrets(conversationId) }) };
      const dialled = policed({ dial: reachOf(), dialAnywhere, reached });
      const remote = remoteGit?.(conversationId);
      if (remote) {
        const toBroker = policed({ dial: remote.dial, dialAnywhere: remote.dial, reached });
        return { dial: dialled, ...shared, git: createGitRelay(toBroker) };
      }
      if (git === undefined) return { dial: dialled, ...shared };
      const onUse = (use: string): void => notice(`git of conversation ${conversationId}: ${use}`);
      return { dial: dialled, ...shared, git: createGitBroker({ access: git(conversationId), dial: dialled, onUse }) };
    },
    gitHosts: async (conversationId) => remoteGit?.(conversationId)?.hosts ?? git?.(conversationId).hosts() ?? [],
    reachedHosts: record.list,
    refusedHosts: (conversationId) => refusals.get(conversationId)?.hosts.list ?? [],
    async forget(conversationId, { forGood }) {
      refusals.delete(conversationId);
      if (forGood) await record.forget(conversationId);
    },
    close: record.close,
  };
}

function newRefusals({ notice, now = () => performance.now() }: Pick<EgressOptions, 'notice' | 'now'>): Refusals {
  return { hosts: createRefusedHosts(), log: createRefusalLog(notice, now) };
}

/** Lines for the log about the refused places of one sandbox. Whatever it asks for, they are bounded in time. */
interface RefusalLog {
  write(line: string): void;
}

const LINES_PER_PERIOD = 60;
const PERIOD_MS = 60_000;

/** `now`: milliseconds since some beginning. */
function createRefusalLog(write: (line: string) => void, now: () => number): RefusalLog {
  let periodEnds = 0;
  let written = 0;
  let leftOut = 0;
  return {
    write(line) {
      if (now() >= periodEnds) {
        periodEnds = now() + PERIOD_MS;
        written = 0;
      }
      if (written === LINES_PER_PERIOD) {
        leftOut += 1;
        return;
      }
      written += 1;
      write(leftOut > 0 ? `${line} (${leftOut} more refused places were not logged before this one)` : line);
      leftOut = 0;
    },
  };
}

/**
 * Stands where a broker would, on a host that has no tokens and shall have none: each request of git's own protocol goes to the
 * broker of the sandbox's server, over a connection that `dial` has from there. `dial` is asked with the git host, so that
 * the policy of this side is enforced too.
 */
function createGitRelay(dial: Dial): GitBroker {
  return async (request, response, url, signal) => {
    const asked = readGitRequest(request.method ?? '', url);
    if (asked === undefined) throw new AddressRefused(`${GIT_BROKER_NAME} takes requests of git's own protocol and nothing else`);
    const { hostname, port } = new URL(`https://${asked.host}`);
    const socket = await dial(hostname, Number(port || 443), signal);
    await passOn(request, response, { socket, path: url.href, host: GIT_BROKER_NAME });
  };
}

interface PolicedDialOptions {
  /** Asked for each connection: a change counts from the next one on. */
  readonly policy: () => Promise<NetworkPolicy>;
  /** Judges the address that it dials. */
  readonly dial: Dial;
  /** For places that the operator opened; does not look at the address. */
  readonly dialAnywhere: Dial;
  /** Asks a person for a name that only the conversation's list lacks; see `AskPerson`. Default: nobody is asked. */
  readonly ask?: ((name: string, port: number) => Promise<string | undefined>) | undefined;
  readonly refused: RefusedHosts;
  /** Default: what it reaches is not remembered. */
  readonly reached?: ReachedHosts;
  /** Once for each place, as long as it is remembered. */
  readonly onRefused: (place: string, reason: string) => void;
}

/** Dials what the conversation's policy lets through, and remembers what it reached and what it may not. */
function policedDial({ policy, dial, dialAnywhere, ask, refused, reached, onRefused }: PolicedDialOptions): Dial {
  return async (host, port, signal) => {
    try {
      let current = await policy();
      if (ask && !isOpenedPrivately(current, host, port) && isAskable(current, host, port)) {
        const refusal = await ask(plainName(host), port);
        if (refusal !== undefined) throw new AddressRefused(refusal);
        current = await policy(); // an answer has changed it
      }
      const isPrivate = isOpenedPrivately(current, host, port);
      const reason = isPrivate ? undefined : nameRefusal(current, host, port);
      if (reason !== undefined) throw new AddressRefused(reason);
      const socket = await (isPrivate ? dialAnywhere : dial)(host, port, signal);
      reached?.note(host, port, socket);
      return socket;
    } catch (error) {
      if (error instanceof AddressRefused && refused.note(host, port, error.message))
        onRefused(`${host.slice(0, 253)}:${port}`, error.message);
      throw error;
    }
  };
}
