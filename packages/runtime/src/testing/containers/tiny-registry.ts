import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

const TYPE = 'application/vnd.docker';

/** A registry with one image of one layer: as much of its protocol as a pull needs. */
export async function tinyRegistry(tar: string, architecture: string): Promise<{ readonly image: string; close(): void }> {
  const files = readFileSync(tar);
  const layer = gzipSync(files, { level: 1 });
  const config = Buffer.from(
    JSON.stringify({ architecture, os: 'linux', config: {}, rootfs: { type: 'layers', diff_ids: [digestOf(files)] } }),
  );
  const part = (mediaType: string, bytes: Buffer) => ({ mediaType: `${TYPE}.${mediaType}`, size: bytes.length, digest: digestOf(bytes) });
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: `${TYPE}.distribution.manifest.v2+json`,
      config: part('container.image.v1+json', config),
      layers: [part('image.rootfs.diff.tar.gzip', layer)],
    }),
  );
  const blobs = new Map([config, layer].map((bytes) => [digestOf(bytes), bytes]));
  const server = createServer((request, response) => {
    const [, kind, name = ''] = /^\/v2\/tiny\/(manifests|blobs)\/(.*)$/.exec(request.url ?? '') ?? [];
    const isManifest = kind === 'manifests' && (name === 'latest' || name === digestOf(manifest));
    const body = isManifest ? manifest : blobs.get(name);
    if (request.url === '/v2/') return response.end('{}');
    if (body === undefined)
      return response.writeHead(404).end(JSON.stringify({ errors: [{ code: 'MANIFEST_UNKNOWN', message: 'manifest unknown' }] }));
    const type = isManifest ? `${TYPE}.distribution.manifest.v2+json` : 'application/octet-stream';
    response.writeHead(200, { 'content-type': type, 'content-length': body.length, 'docker-content-digest': digestOf(body) });
    return response.end(request.method === 'HEAD' ? undefined : body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { image: `127.0.0.1:${(server.address() as AddressInfo).port}/tiny:latest`, close };
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
