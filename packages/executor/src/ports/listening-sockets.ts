/** A TCP socket that waits for connections, as `/proc/net/tcp` and `tcp6` list it. */
export interface ListeningSocket {
  readonly port: number;
  /** Loopback addresses at which it can be reached; none when it is bound to another address only. */
  readonly addresses: readonly string[];
  readonly inode: string;
}

const LISTEN = '0A';
const ANY_4 = '00000000';
const ANY_6 = ANY_4.repeat(4);
const LOOPBACK_6 = `${ANY_4.repeat(3)}01000000`;
/** An IPv4 address in the clothes of IPv6, as Java binds. */
const MAPPED_4 = `${ANY_4.repeat(2)}FFFF0000`;

/** Reads the text of either file. Lines that are malformed are left out. */
export function listeningSockets(table: string): ListeningSocket[] {
  return table.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    const [address = '', port = ''] = local.split(':');
    if (state !== LISTEN || !/^\d+$/.test(inode) || !/^[0-9A-F]{4}$/.test(port)) return [];
    return { port: Number.parseInt(port, 16), addresses: loopbacks(address), inode };
  });
}

function loopbacks(address: string): readonly string[] {
  if (address === ANY_4) return ['127.0.0.1'];
  if (address === ANY_6) return ['127.0.0.1', '::1'];
  if (address === LOOPBACK_6) return ['::1'];
  const four = address.startsWith(MAPPED_4) ? address.slice(MAPPED_4.length) : address;
  return four.length === 8 && four.endsWith('7F') ? [dotted(four)] : [];
}

/** The kernel prints the bytes of an address in the order of a little-endian machine. */
function dotted(hex: string): string {
  return [...Buffer.from(hex, 'hex')].toReversed().join('.');
}
