import { isIP } from 'node:net';
import { ALLOWED_HOSTS } from './allowed-hosts.ts';

/** `none`: nothing. `allowlist`: package registries, git hosts and what was added. `full`: the public internet. */
export type NetworkMode = 'none' | 'allowlist' | 'full';

/** Where one conversation's sandbox may connect to. Addresses near the host are closed in every mode; see `egress-policy.ts`. */
export interface NetworkPolicy {
  readonly mode: NetworkMode;
  /** Beside the usual ones in `allowlist`: names and `*.suffixes`, lower case. */
  readonly allow: readonly string[];
  /** `host:port` that may be reached although the address is private; the operator's choice, never a client's. */
  readonly allowPrivate: readonly string[];
  /** Where somebody else keeps the sandbox: what that host's operator gives at most. Both must let a place through. */
  readonly atMost?: NetworkReach;
}

/** Which names may be connected to. */
export type NetworkReach = Pick<NetworkPolicy, 'mode' | 'allow'>;

export const DEFAULT_NETWORK: NetworkPolicy = { mode: 'full', allow: [], allowPrivate: [] };

/** Names whose meaning depends on the machine that resolves them. */
export const LOCAL_NAME = /^[^.]+$|\.(localhost|local|internal|lan|home\.arpa|corp|intranet)\.?$/i;

const PORTS = new Set([22, 80, 443]);
const USUAL = new Set(Object.values(ALLOWED_HOSTS).flat());

const WIDTH: Readonly<Record<NetworkMode, number>> = { none: 0, allowlist: 1, full: 2 };

export function isWider(mode: NetworkMode, than: NetworkMode): boolean {
  return WIDTH[mode] > WIDTH[than];
}

interface Words {
  readonly none: string;
  readonly unlisted: (name: string) => string;
}

const OF_CONVERSATION: Words = {
  none: 'this conversation has no network (policy "none"); a person can change that with the network setting of the conversation',
  unlisted: (name) =>
    `${name} is not on the list of this conversation (policy "allowlist"); a person can add it to the network setting of the conversation or to SANDBOX_NETWORK_ALLOW`,
};
const OF_HOST: Words = {
  none: 'the host of this sandbox gives no network (policy "none"); its operator can change that with SANDBOX_NETWORK there',
  unlisted: (name) =>
    `${name} is not on the list of the host of this sandbox (policy "allowlist"); its operator can add it to SANDBOX_NETWORK_ALLOW there`,
};

/** What the name and the port alone decide. The reason ends with what would change it. */
export function nameRefusal({ mode, allow, atMost }: Omit<NetworkPolicy, 'allowPrivate'>, host: string, port: number): string | undefined {
  return (atMost && refusalBy(atMost, OF_HOST, host, port)) ?? refusalBy({ mode, allow }, OF_CONVERSATION, host, port);
}

function refusalBy({ mode, allow }: NetworkReach, words: Words, host: string, port: number): string | undefined {
  if (mode === 'none') return words.none;
  if (mode === 'full') return undefined;
  const name = plainName(host);
  if (!isListed(name, USUAL) && !isListed(name, new Set(allow))) return words.unlisted(name);
  return PORTS.has(port) ? undefined : `port ${port} is not open (policy "allowlist" opens 22, 80 and 443)`;
}

/**
 * Whether nothing is missing but an entry in the conversation's own list, for one public name: then a person can be asked for it. Patterns,
 * addresses in any spelling and names of the local kind are none.
 */
export function isAskable(policy: NetworkPolicy, host: string, port: number): boolean {
  const name = plainName(host);
  if (policy.mode !== 'allowlist' || !PORTS.has(port)) return false;
  if (name.startsWith('*') || hostPattern(name) !== name || isAddress(name) || LOCAL_NAME.test(name)) return false;
  const isMissing = refusalBy(policy, OF_CONVERSATION, host, port) !== undefined;
  return isMissing && (policy.atMost === undefined || refusalBy(policy.atMost, OF_HOST, host, port) === undefined);
}

/** An address, also in a spelling that only the system takes apart. */
function isAddress(name: string): boolean {
  return isIP(name) !== 0 || /(^|\.)(\d+|0x[0-9a-f]*)$/.test(name);
}

/** Nothing at all is reached. */
export function isOffline({ mode, atMost }: NetworkPolicy): boolean {
  return mode === 'none' || atMost?.mode === 'none';
}

/** Whether the operator opened this very place, whatever its address. */
export function isOpenedPrivately(policy: NetworkPolicy, host: string, port: number): boolean {
  return !isOffline(policy) && policy.allowPrivate.includes(`${plainName(host)}:${port}`);
}

/** Whether what is sent in a connection to there must be for that very name: a list of names is none of networks. */
export function isHeldToName(policy: NetworkPolicy, host: string, port: number): boolean {
  const isByList = policy.mode === 'allowlist' || policy.atMost?.mode === 'allowlist';
  return isByList && (port === 80 || port === 443) && !isOpenedPrivately(policy, host, port);
}

/** A name or `*.suffix` as it is compared, or `undefined` when it is neither. `*` alone is not one: that is mode `full`. */
export function hostPattern(text: string): string | undefined {
  const pattern = text.trim().toLowerCase();
  return pattern.length <= 253 && /^(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/.test(pattern)
    ? pattern
    : undefined;
}

function isListed(name: string, patterns: ReadonlySet<string>): boolean {
  if (patterns.has(name)) return true;
  for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) if (patterns.has(`*${name.slice(dot)}`)) return true;
  return false;
}

/** A name as it is compared: without brackets, without the root's dot, lower case. */
export function plainName(host: string): string {
  return host
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
}
