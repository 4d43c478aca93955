import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

export interface TestResolver {
  readonly servers: readonly string[];
  /** The names, once for each time that somebody wanted their IPv4 addresses. */
  readonly asked: readonly string[];
  close(): void;
}

/** A resolver that knows these names and keeps silent of all others, as the one of an attacker's zone may. */
export async function startResolver(known: Readonly<Record<string, readonly string[]>> = {}): Promise<TestResolver> {
  const asked: string[] = [];
  const socket: Socket = createSocket('udp4', (query, from) => {
    const { name, end } = questionOf(query);
    const isFour = query.readUInt16BE(end - 4) === 1;
    if (isFour) asked.push(name);
    const addresses = known[name];
    if (addresses) socket.send(answer(query.subarray(0, end), isFour ? addresses : []), from.port, from.address);
  });
  await once(socket.bind(0, '127.0.0.1'), 'listening');
  return { servers: [`127.0.0.1:${socket.address().port}`], asked, close: () => void socket.close() };
}

function questionOf(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 5 };
}

function answer(question: Buffer, addresses: readonly string[]): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt16BE(0, 10); // without the additional part of the query
  const records = addresses.map((address) => [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)]);
  return Buffer.concat([head, Buffer.from(records.flat())]);
}
