/** A server of S3's API in memory, as far as blobs need it: it checks signatures, and its clock goes as a test wants. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { AwsV4Signer } from 'aws4fetch';
import { onTestFinished } from 'vitest';
import type { S3Options } from './s3-blobs.ts';

const ACCOUNT = { accessKeyId: 'AKIATEST', secretAccessKey: 'secret-of-the-test' };
/** More are continued on another page. */
const PAGE = 3;

export interface S3Server {
  readonly options: S3Options;
  readonly objects: Map<string, { bytes: Buffer; readonly at: number }>;
  /** Lets so much time pass. */
  wait(ms: number): void;
  /** Called before a request of this method is carried out. */
  before(method: string, run: () => Promise<void>): void;
}

export async function s3Server(): Promise<S3Server> {
  const objects: S3Server['objects'] = new Map();
  const hooks = new Map<string, () => Promise<void>>();
  let now = Date.now();
  const server = createServer((request, response) => {
    response.setHeader('date', new Date(now).toUTCString());
    serve(request, response).catch((error: unknown) => response.writeHead(500).end(`<Code>${String(error)}</Code>`));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    if (!(await isSigned(request, body, origin))) return void response.writeHead(403).end('<Code>SignatureDoesNotMatch</Code>');
    await hooks.get(request.method!)?.();
    const { pathname, searchParams } = new URL(request.url!, origin);
    const key = pathname.replace('/bucket/', '');
    if (searchParams.has('list-type')) return void response.end(listing(searchParams));
    if (request.method === 'PUT') objects.set(key, { bytes: body, at: now });
    if (request.method === 'DELETE') objects.delete(key);
    const found = objects.get(key);
    if (request.method === 'GET' && !found) return void response.writeHead(404).end('<Code>NoSuchKey</Code>');
    response.end(request.method === 'GET' ? found!.bytes : '');
  }

  function listing(query: URLSearchParams): string {
    const names = [...objects.keys()].filter((name) => name.startsWith(query.get('prefix')!)).toSorted();
    const rest = names.filter((name) => name > (query.get('continuation-token') ?? ''));
    const shown = rest.slice(0, PAGE).map((name) => {
      const { at } = objects.get(name)!;
      return `<Contents><Key>${name}</Key><LastModified>${new Date(at).toISOString()}</LastModified></Contents>`;
    });
    const isCut = PAGE < rest.length;
    const next = isCut ? `<NextContinuationToken>${rest[PAGE - 1]}</NextContinuationToken>` : '';
    return `<ListBucketResult><IsTruncated>${isCut}</IsTruncated>${next}${shown.join('')}</ListBucketResult>`;
  }

  return {
    options: { bucket: 'bucket', prefix: 'some/prefix', endpoint: new URL(origin), region: 'eu-central-1', account: ACCOUNT },
    objects,
    wait: (ms) => (now += ms),
    before: (method, run) => void hooks.set(method, run),
  };
}

async function isSigned({ method, url, headers }: IncomingMessage, body: Buffer, origin: string): Promise<boolean> {
  const content = headers['x-amz-content-sha256'] as string;
  if (content !== 'UNSIGNED-PAYLOAD' && content !== createHash('sha256').update(body).digest('hex')) return false;
  const signer = new AwsV4Signer({
    ...ACCOUNT,
    method: method!,
    url: origin + url,
    headers: { 'x-amz-content-sha256': content },
    region: 'eu-central-1',
    service: 's3',
    datetime: headers['x-amz-date'] as string,
  });
  return (await signer.sign()).headers.get('authorization') === headers.authorization;
}
