import { isIPv4, isIPv6 } from 'node:net';

/**
 * Where a sandbox may connect to: the public internet, and nothing near the host. Pure: decided on the very address that is
 * dialled, so a name that changes its mind between check and use (rebinding) gains nothing.
 */
export interface EgressQuestion {
  /** A literal address, as the resolver gave it. */
  readonly address: string;
  readonly port: number;
  /** Every address of this host. */
  readonly ownAddresses: readonly string[];
}

/** Why it is refused, in a clause; `undefined` = allowed. Total: what is not an address is refused. */
export function refusal({ address, port, ownAddresses }: EgressQuestion): string | undefined {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return 'that is not a port';
  if (port < 1024 && !LOW_PORTS.has(port)) return `port ${port} is not one that a sandbox may use`;
  const reason = refusedAddress(address);
  if (reason !== undefined) return reason;
  return ownAddresses.some((own) => isSameAddress(own, address)) ? 'it is an address of this host' : undefined;
}

/** ssh, http, https. */
const LOW_PORTS = new Set([22, 80, 443]);

const IPV4_RANGES: readonly (readonly [block: string, what: string])[] = [
  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'shared by a carrier'],
  ['127.0.0.0/8', 'loopback'],
  ['168.63.129.16/32', 'a metadata service'],
  ['169.254.0.0/16', 'link-local or a metadata service'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'for documentation'],
  ['192.88.99.0/24', 'a relay'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'for benchmarks'],
  ['198.51.100.0/24', 'for documentation'],
  ['203.0.113.0/24', 'for documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved or broadcast'],
];

const IPV4_BLOCKS = IPV4_RANGES.map(([block, what]) => {
  const [base = '', bits = ''] = block.split('/');
  return { base: parseIPv4(base), size: 2 ** (32 - Number(bits)), what };
});

function refusedAddress(address: string): string | undefined {
  if (isIPv4(address)) return refusedIPv4(parseIPv4(address));
  if (isIPv6(address) && !address.includes('%')) return refusedIPv6(parseIPv6(address));
  return 'that is not an address';
}

function refusedIPv4(value: number): string | undefined {
  const block = IPV4_BLOCKS.find(({ base, size }) => value >= base && value < base + size);
  return block && `the address is ${block.what}`;
}

/** Only global unicast (2000::/3) is public, less what is set aside in it; and NAT64 to a public IPv4 address. */
function refusedIPv6(groups: readonly number[]): string | undefined {
  const [a = 0, b = 0] = groups;
  if (a === 0x64 && b === 0xff9b && groups.slice(2, 6).every((group) => group === 0)) {
    return refusedIPv4((groups[6] ?? 0) * 65_536 + (groups[7] ?? 0));
  }
  if (a < 0x2000 || a > 0x3fff) return 'the address is not public (loopback, private, link-local, mapped or multicast)';
  if (a === 0x2001 && b < 0x0200) return 'the address is set aside for protocols';
  if (a === 0x2001 && b === 0x0db8) return 'the address is for documentation';
  if (a === 0x2002) return 'the address is a tunnel to IPv4';
  if (a === 0x3fff && b < 0x1000) return 'the address is for documentation';
  return undefined;
}

function isSameAddress(left: string, right: string): boolean {
  if (isIPv4(left) || isIPv4(right)) return left === right;
  const bare = left.split('%')[0] ?? '';
  if (!isIPv6(bare) || !isIPv6(right) || right.includes('%')) return left === right;
  return parseIPv6(bare).join() === parseIPv6(right).join();
}

function parseIPv4(text: string): number {
  return text.split('.').reduce((value, part) => value * 256 + Number(part), 0);
}

/** Eight groups of 16 bits. `text` is a valid IPv6 address without a zone. */
function parseIPv6(text: string): readonly number[] {
  const plain = text.replace(/[\d.]+$/, (tail) => {
    if (!tail.includes('.')) return tail;
    const value = parseIPv4(tail);
    return `${Math.floor(value / 65_536).toString(16)}:${(value % 65_536).toString(16)}`;
  });
  const [head = '', tail] = plain.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...gap, ...right].map((group) => Number.parseInt(group, 16));
}
