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
}

export const DEFAULT_NETWORK: NetworkPolicy = { mode: 'full', allow: [], allowPrivate: [] };

const PORTS = new Set([22, 80, 443]);
const USUAL = new Set(Object.values(ALLOWED_HOSTS).flat());

/** What the name and the port alone decide. The reason ends with what would change it. */
export function nameRefusal({ mode, allow }: NetworkPolicy, host: string, port: number): string | undefined {
  if (mode === 'none')
    return 'this conversation has no network (policy "none"); a person can change that with the network setting of the conversation';
  if (mode === 'full') return undefined;
  const name = plainName(host);
  if (!isListed(name, USUAL) && !isListed(name, new Set(allow))) {
    return `${name} is not on the list of this conversation (policy "allowlist"); a person can add it to the network setting of the conversation or to SANDBOX_NETWORK_ALLOW`;
  }
  return PORTS.has(port) ? undefined : `port ${port} is not open (policy "allowlist" opens 22, 80 and 443)`;
}

/** Whether the operator opened this very place, whatever its address. */
export function isOpenedPrivately({ mode, allowPrivate }: NetworkPolicy, host: string, port: number): boolean {
  return mode !== 'none' && allowPrivate.includes(`${plainName(host)}:${port}`);
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

function plainName(host: string): string {
  return host
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
}
