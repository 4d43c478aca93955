/** A push service as RFC 8030 has it, with the device behind it: it holds what comes to its contract, and reads it as a browser would. */
import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { AddPushDevice, PushDevice, PushDevices, PushMessage } from '@tendon/protocol';
import { Seen } from '@tendon/testing';
import { expect, onTestFinished } from 'vitest';

export interface ReceivedPush {
  /** The path at which the device subscribed. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly message: PushMessage;
  readonly body: Buffer;
}

interface ServiceAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface PushService {
  readonly origin: string;
  /** What a server may reach although it is on this machine. */
  readonly env: Readonly<Record<string, string>>;
  readonly received: Seen<ReceivedPush>;
  /** A browser subscribes with the key of a server. */
  subscribe(applicationServerKey: string, name?: string): AddPushDevice;
}

interface Subscription {
  readonly ecdh: ReturnType<typeof createECDH>;
  readonly auth: Buffer;
  readonly applicationServerKey: string;
}

/** `answer`: of the n-th request to a path, from 0; what is not answered with 201 is received all the same. */
export async function pushService(
  answer: (path: string, count: number) => ServiceAnswer | undefined = () => undefined,
): Promise<PushService> {
  const subscriptions = new Map<string, Subscription>();
  const counts = new Map<string, number>();
  const received = new Seen<ReceivedPush>();
  const failures: unknown[] = [];
  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    const body = await buffer(request);
    const subscription = subscriptions.get(path);
    try {
      expect([request.method, subscription !== undefined]).toEqual(['POST', true]);
      verifyVapid(request.headers, origin, subscription!.applicationServerKey);
      expect(request.headers).toMatchObject({ 'content-encoding': 'aes128gcm', 'content-length': String(body.length) });
      expect([body.length <= 4096, /^\d+$/.test(request.headers.ttl as string)]).toEqual([true, true]);
      expect(request.headers.topic).toMatch(/^[\w-]{1,32}$/);
      const message = JSON.parse(decrypted(body, subscription!)) as PushMessage;
      const { status, headers } = answer(path, counts.get(path) ?? 0) ?? { status: 201 };
      counts.set(path, (counts.get(path) ?? 0) + 1);
      response.writeHead(status, headers).end();
      received.take({ path, headers: request.headers, message, body });
    } catch (error) {
      failures.push(error);
      response.writeHead(400).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.close().closeAllConnections();
    expect(failures).toEqual([]);
  });
  return {
    origin,
    env: { SANDBOX_NETWORK_ALLOW_PRIVATE: new URL(origin).host },
    received,
    subscribe(applicationServerKey, name = 'A phone') {
      const ecdh = createECDH('prime256v1');
      const [path, p256dh, auth] = [`/push/${randomBytes(16).toString('hex')}`, ecdh.generateKeys(), randomBytes(16)];
      subscriptions.set(path, { ecdh, auth, applicationServerKey });
      const keys = { p256dh: p256dh.toString('base64url'), auth: auth.toString('base64url') };
      return { endpoint: origin + path, keys, device: name };
    },
  };
}

/** RFC 8292. */
function verifyVapid({ authorization }: IncomingHttpHeaders, audience: string, applicationServerKey: string): void {
  const [, token, key] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(authorization ?? '') ?? [];
  expect(key).toBe(applicationServerKey);
  const [header, claims, signature] = token!.split('.').map((part) => Buffer.from(part, 'base64url'));
  expect(JSON.parse(header!.toString())).toEqual({ typ: 'JWT', alg: 'ES256' });
  const { aud, exp, sub } = JSON.parse(claims!.toString()) as { aud: string; exp: number; sub: string };
  expect([aud, sub]).toEqual([audience, expect.stringMatching(/^(mailto:.+@|https:\/\/)/)]);
  expect(exp).toBeLessThanOrEqual(Date.now() / 1000 + 86_400);
  expect(exp).toBeGreaterThan(Date.now() / 1000);
  const point = Buffer.from(key!, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url'));
  const publicKey = createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x: x!, y: y! } });
  const signed = Buffer.from(token!.slice(0, token!.lastIndexOf('.')));
  expect(verify('sha256', signed, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature!)).toBe(true);
}

/** RFC 8291 §3.4, and RFC 8188 with one record. */
export function decrypted(body: Buffer, { ecdh, auth }: Pick<Subscription, 'ecdh' | 'auth'>): string {
  const [salt, recordSize, keyLength] = [body.subarray(0, 16), body.readUInt32BE(16), body[20]!];
  const sender = body.subarray(21, 21 + keyLength);
  const record = body.subarray(21 + keyLength);
  expect(record.length).toBeLessThanOrEqual(recordSize);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), ecdh.getPublicKey(), sender]);
  const material = Buffer.from(hkdfSync('sha256', ecdh.computeSecret(sender), auth, info, 32));
  const key = Buffer.from(hkdfSync('sha256', material, salt, 'Content-Encoding: aes128gcm\0', 16));
  const nonce = Buffer.from(hkdfSync('sha256', material, salt, 'Content-Encoding: nonce\0', 12));
  const decipher = createDecipheriv('aes-128-gcm', key, nonce);
  decipher.setAuthTag(record.subarray(-16));
  const padded = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
  const end = padded.lastIndexOf(2);
  expect(padded.subarray(end + 1).every((byte) => byte === 0)).toBe(true);
  return padded.toString('utf8', 0, end);
}

type Headers = Readonly<Record<string, string>>;

export async function devicesOf({ url }: { readonly url: string }, headers: Headers = {}): Promise<PushDevices> {
  const answer = await fetch(`${url}/api/push/devices`, { headers });
  expect(answer.status).toBe(200);
  return (await answer.json()) as PushDevices;
}

export function postDevice({ url }: { readonly url: string }, device: AddPushDevice, headers: Headers = {}): Promise<Response> {
  const sent = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(device) };
  return fetch(`${url}/api/push/devices`, sent);
}

/** Turns notifications on in a browser. */
export async function addDevice(
  server: { readonly url: string },
  service: PushService,
  { name, headers = {} }: { readonly name?: string; readonly headers?: Headers } = {},
): Promise<PushDevice & { readonly path: string }> {
  const { application_server_key: key } = await devicesOf(server, headers);
  const subscription = service.subscribe(key, name);
  const answer = await postDevice(server, subscription, headers);
  expect(answer.status).toBe(201);
  return { ...((await answer.json()) as PushDevice), path: new URL(subscription.endpoint).pathname };
}
