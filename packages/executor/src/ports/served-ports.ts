import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { ServedPort } from '@tendon/protocol/executor-api';
import { allProcesses, processStat } from '../processes/process-tree.ts';

export interface ReachablePort extends ServedPort {
  /** Loopback addresses at which it can be reached, one or two. */
  readonly addresses: readonly string[];
}

const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
const COUNTS = ['/proc/self/net/sockstat', '/proc/self/net/sockstat6'];
const MAX_PORTS = 64;
const MAX_PROGRAM_CHARS = 64;

/** How many TCP sockets there are in this network namespace, as a text to compare; nothing where the kernel does not count them. */
export async function countSockets(): Promise<string | undefined> {
  const counts = await Promise.all(COUNTS.map((path) => readFile(path, 'latin1').catch(() => '')));
  const inUse = counts.flatMap((text) => /^TCP6?: inuse \d+/m.exec(text) ?? []);
  return inUse.length === 0 ? undefined : inUse.join();
}

/** Everything that listens in this network namespace, ours or not. The files are small, but the kernel takes milliseconds for them. */
export async function readListening(): Promise<ListeningSocket[]> {
  const tables = await Promise.all(TABLES.map((path) => readFile(path, 'latin1').catch(() => '')));
  return tables.flatMap(listeningSockets);
}

/**
 * Of the sockets those that a descendant of the executor holds, by port. Where the network is shared with the host, nothing of the
 * host is among them.
 */
export function servedPorts(sockets: readonly ListeningSocket[]): ReachablePort[] {
  const reachable = new Map(sockets.flatMap((socket) => (socket.addresses.length > 0 ? [[`socket:[${socket.inode}]`, socket]] : [])));
  const found = new Map<number, ReachablePort>();
  for (const pid of reachable.size === 0 ? [] : new Set([...descendants(process.pid), ...marked()])) {
    for (const link of openFiles(pid)) {
      const socket = reachable.get(link);
      if (socket === undefined) continue;
      reachable.delete(link);
      const known = found.get(socket.port);
      const addresses = [...new Set([...(known?.addresses ?? []), ...socket.addresses])];
      found.set(socket.port, { port: socket.port, program: known?.program ?? programOf(pid), addresses });
    }
  }
  return [...found.values()].toSorted((one, other) => one.port - other.port).slice(0, MAX_PORTS);
}

/** What one process listens on, at any address. */
export async function portsHeldBy(pid: number): Promise<readonly number[]> {
  const files = new Set(openFiles(pid));
  return (await readListening()).flatMap(({ inode, port }) => (files.has(`socket:[${inode}]`) ? [port] : []));
}

/** Whether nobody but this process listens. */
export function holdsAll(pid: number, sockets: readonly ListeningSocket[]): boolean {
  const files = new Set(openFiles(pid));
  return sockets.every(({ inode }) => files.has(`socket:[${inode}]`));
}

function descendants(root: number): readonly number[] {
  const children = Map.groupBy(allProcesses(), (pid) => processStat(pid)?.parent ?? -1);
  const found: number[] = [];
  for (let next = children.get(root) ?? []; next.length > 0; next = next.flatMap((pid) => children.get(pid) ?? [])) found.push(...next);
  return found;
}

/** Without a namespace of processes, those that have left their parent: what the driver marks is known by its environment. */
function marked(): readonly number[] {
  const mark = process.env.TENDON_SANDBOX;
  if (mark === undefined) return [];
  return allProcesses().filter((pid) => {
    try {
      return pid !== process.pid && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`TENDON_SANDBOX=${mark}`);
    } catch {
      return false; // gone, or not ours to look at
    }
  });
}

function openFiles(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${name}`);
      } catch {
        return []; // closed meanwhile
      }
    });
  } catch {
    return []; // gone, or not ours to look at
  }
}

function programOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim().slice(0, MAX_PROGRAM_CHARS);
  } catch {
    return '';
  }
}

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

/** Reads the text of either file. Lines that are malformed are left out. @internal */
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
