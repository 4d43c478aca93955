/** A server on loopback without a key, as each user of a machine may run one, and the client of the first README: a plain socket that carries nothing. */
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { Seen, someOf } from '@tendon/testing';
import { TendonProcess, type WireEvent } from '@tendon/testing/servers';

const IS_ROOT = process.getuid?.() === 0;
const own = { uid: process.getuid!(), gid: process.getgid!() };
/** Nobody's on a test machine. */
const ORDINARY = { uid: 12_349, gid: 12_349 };

const USERS = [
  ...(IS_ROOT
    ? [{ who: 'root', account: own, says: /^access +no key, and this server is root: every user and program of this machine can .+$/m }]
    : []),
  { who: 'an ordinary user', account: IS_ROOT ? ORDINARY : own, says: /^access +no key: every user and program of this machine can .+$/m },
];

it.each(someOf(USERS, 1))(
  'SV900: of $who it serves `websocat ws://127.0.0.1:3000/ws`, and its banner says whose it is',
  async ({ account, says }) => {
    const tendon = await TendonProcess.startAs(account);
    onTestFinished(() => tendon.remove());
    await expect.poll(() => tendon.output, { timeout: 60_000 }).toMatch(says); // it answers before it has printed
    // As websocat, it sends the handshake's own headers and no others: no key, no cookie, no Origin, no extension.
    const socket = new WebSocket(`${tendon.url.replace('http', 'ws')}/ws`, { perMessageDeflate: false });
    onTestFinished(() => socket.terminate());
    const seen = new Seen<WireEvent>();
    socket.on('message', (data: Buffer) => seen.take(JSON.parse(data.toString()) as WireEvent));
    const cut = new Promise<never>((_, reject) => socket.once('error', reject).once('close', () => reject(new Error('hung up on'))));
    cut.catch(() => {});
    socket.once('open', () => socket.send('{"action":"start","args":{"task":"write a bash script that prints hello"}}\n'));
    await Promise.race([seen.until((frame) => frame.action === 'finish'), cut]);
    expect(seen.all.find((frame) => frame.observation === 'run')).toMatchObject({ content: 'hello', extras: { exit_code: 0 } });
  },
);
