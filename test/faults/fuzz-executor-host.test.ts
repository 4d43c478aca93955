/** A client that has the key of an executor host, or has not, and does what no server does; a sandbox beside it is at work meanwhile. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../packages/server/src/platform/logger.ts';
import { createMask } from '@tendon/protocol/masking';
import { arbitraryOf, type Schema } from '../../packages/server/src/fuzz/arbitrary-of-schema.test-support.ts';
import { hostileText, SEED } from '../../packages/server/src/fuzz/hostile-values.test-support.ts';
import { KEY, testHost, type TestHost } from '../../packages/sandbox-host/src/host.test-support.ts';
import { itInFull, runs } from '@tendon/testing';
import { executorFolder } from '@tendon/runtime/testing';

/** Long enough for the neighbours of a busy machine. */
const TIMEOUTS = { headersMs: 3_000, requestMs: 60_000, stillMs: 3_000, checkMs: 500 };
const WAIT = { timeout: 90_000 };
const MIB = 1024 * 1024;
const TARGET = '00000000000000aa';
const BYSTANDER = '00000000000000bb';

interface Attacked extends TestHost {
  /** The sandbox beside it has gone on without a pause, no failure of our own was logged, and nothing is held. */
  expectUnharmed(): Promise<void>;
  raw(bytes: string | Uint8Array): Raw;
}
interface Raw {
  readonly socket: Socket;
  readonly received: () => string;
  readonly closed: Promise<void>;
}

async function attacked(): Promise<Attacked> {
  executorFolder();
  const errors: string[] = [];
  const logger = createLogger({ level: 'error', mask: createMask([]), destination: { write: (line) => void errors.push(line) } });
  const host = await testHost({ RUNTIME: 'local' }, { timeouts: TIMEOUTS, logger });
  for (const incarnation of [TARGET, BYSTANDER]) {
    const json = { conversation_id: incarnation, lease_seconds: 600, directory: incarnation };
    expect((await host.call('PUT', `/sandboxes/${incarnation}`, { json })).status).toBe(200);
  }
  const act = async (key: string, command: string): Promise<string> => {
    const action = { action: 'run', args: { command } };
    return (
      await host.call('POST', `/sandboxes/${BYSTANDER}/execute_action`, { json: { key, digest: 'a', incarnation: BYSTANDER, action } })
    ).text();
  };
  const working = act('beside:1', 'for i in $(seq 100000); do test -e done && break; sleep 0.1; done; echo "the end"');
  onTestFinished(async () => {
    writeFileSync(join(host.workspace, BYSTANDER, 'done'), '');
    expect(await working).toContain('the end'); // one stream, from before the attack until after it
  });
  let asked = 1;
  return {
    ...host,
    async expectUnharmed() {
      const key = `beside:${(asked += 1)}`;
      const action = { action: 'run', args: { command: 'echo works', is_static: true } };
      const answer = await host.call('POST', `/sandboxes/${BYSTANDER}/execute_action`, {
        json: { key, digest: 'a', incarnation: BYSTANDER, action },
      });
      expect(await answer.text()).toContain('works');
      expect((await host.call('GET', '/server_info')).status).toBe(200);
      expect(errors).toEqual([]);
      expect(Object.keys(Object.prototype)).toEqual([]);
    },
    raw(bytes) {
      const socket = connect(Number(new URL(host.url).port), '127.0.0.1');
      let text = '';
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.on('error', () => undefined).on('data', (data) => (text = (text + data.toString('latin1')).slice(0, 100_000)));
      socket.write(bytes);
      onTestFinished(() => void socket.destroy());
      return { socket, received: () => text, closed };
    },
  };
}

const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
const head = (method: string, path: string, headers = '', key = `X-Session-API-Key: ${KEY}\r\n`): string =>
  `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${key}${headers}\r\n`;
const descriptors = (): number => readdirSync('/proc/self/fd').length;

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

describe('RT213: an executor host', () => {
  itInFull(
    'answers whatever nearly fits its own description, on every route, with no more than it should',
    { timeout: 240_000 },
    async () => {
      const host = await attacked();
      const document = (await (await host.call('GET', '/openapi.json')).json()) as { paths: Record<string, Record<string, Operation>> };
      const passwd = readFileSync('/etc/passwd', 'utf8');
      for (const [path, operations] of Object.entries(document.paths)) {
        for (const [method, { parameters = [], requestBody }] of Object.entries(operations)) {
          // Those stay open for as long as their sandbox lives.
          if (path.endsWith('/watch') || path.endsWith('/follow')) continue;
          const schema = requestBody?.content['application/json']?.schema;
          const drawn = fc.record({
            body: schema ? arbitraryOf(schema) : fc.constant(undefined),
            params: fc.tuple(...parameters.map((each) => arbitraryOf(each.schema).map((value) => [each, value] as const))),
          });
          const property = fc.asyncProperty(drawn, async ({ body, params }) => {
            const textOf = (value: unknown): string =>
              encodeURIComponent(
                String(value instanceof Object ? JSON.stringify(value) : value)
                  .toWellFormed()
                  .slice(0, 500),
              );
            let at = path.replace('{incarnation}', TARGET);
            const query: string[] = [];
            for (const [{ name, in: where }, value] of params) {
              if (where === 'path') at = at.replace(`{${name}}`, textOf(value) || '%20');
              else if (where === 'query') query.push(`${name}=${textOf(value)}`);
            }
            // What ends the sandbox that is attacked is asked of one that is not there.
            if (method === 'delete') at = at.replace(TARGET, '00000000000000cc');
            const { status } = await host.call(method.toUpperCase(), `${at}?${query.join('&')}`, body === undefined ? {} : { json: body });
            expect(status < 500 || [501, 502, 503, 504].includes(status), `${method} ${at} ${status}`).toBe(true);
          });
          await fc.assert(property, { numRuns: runs(12, 4), seed: SEED, endOnFailure: true });
        }
      }
      expect(readFileSync('/etc/passwd', 'utf8')).toBe(passwd);
      await host.expectUnharmed();
    },
  );

  itInFull(
    'refuses what is no JSON, swells, is too deep or too large, on every route that takes something',
    { timeout: 240_000 },
    async () => {
      const host = await attacked();
      const before = process.memoryUsage.rss();
      const paths = [
        '/execute_action',
        '/list_files',
        `/sandboxes/${TARGET}/sleep`,
        `/sandboxes/${TARGET}/lease`,
        `/sandboxes/${TARGET}/list_files`,
      ];
      const send = async (method: string, path: string, body: string | Buffer, headers: Record<string, string> = {}) =>
        (
          await fetch(host.url + path, {
            method,
            body: new Uint8Array(Buffer.from(body)),
            headers: { 'x-session-api-key': KEY, 'content-type': 'application/json', ...headers },
          })
        ).status;
      for (const path of paths) {
        for (const body of [
          '{',
          '[]',
          'null',
          '"x"',
          '{"path":1',
          '\u0000',
          '{"path":{"a":[1]}}',
          '{"action":[]}',
          '{"with_kernel":"x"}',
          '{"seconds":[]}',
        ]) {
          const isFitting = path.endsWith('/sleep') && body.includes('seconds');
          if (isFitting || (path.endsWith('/sleep') && /path|action/.test(body) && body.endsWith('}'))) continue; // fits: it would hibernate
          if (path.endsWith('list_files') && /kernel|seconds|action/.test(body)) continue; // the workspace is listed
          expect([path, body, await send('POST', path, body)]).toEqual([
            path,
            body,
            expect.toSatisfy((status: number) => status >= 400 && status < 500),
          ]);
        }
        const deep = `{"path":${'[1,'.repeat(15_000)}1${']'.repeat(15_000)},"action":${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)},"seconds":[],"with_kernel":[]}`;
        expect([path, await send('POST', path, deep.slice(0, 90_000))]).toEqual([
          path,
          expect.toSatisfy((status: number) => status >= 400 && status < 500),
        ]);
      }
      const nested = `{"action":{"action":"run","args":${'{"a":'.repeat(400_000)}1${'}'.repeat(400_000)}}}`;
      const status = await send('POST', '/execute_action', nested);
      expect(status === 200 || (status >= 400 && status < 500)).toBe(true);
      const bomb = gzipSync(Buffer.alloc(200 * MIB, 0x20), { level: 1 });
      for (const coding of ['gzip', 'br', 'deflate', 'gzip, gzip']) {
        for (const path of [...paths, `/sandboxes/${TARGET}/execute_action`]) {
          expect(await send('POST', path, bomb.subarray(0, 60_000), { 'content-encoding': coding })).toBe(415);
        }
      }
      for (const path of ['/execute_action', `/sandboxes/${TARGET}/list_files`]) {
        const sent = host.raw(head('POST', path, 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n'));
        const piece = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(MIB, 0x20), Buffer.from('\r\n')]);
        for (let count = 0; count < 80 && sent.socket.writable; count += 1)
          await new Promise<void>((resolve) => sent.socket.write(piece, () => resolve()));
        sent.socket.end();
        await sent.closed;
        // What was on its way may have cost the answer: here, or on its way from the sandbox to the host (502).
        expect([0, 400, 413, 502]).toContain(statusOf(sent.received()));
      }
      expect(process.memoryUsage.rss() - before).toBeLessThan(600 * MIB);
      await host.expectUnharmed();
    },
  );

  it('is led nowhere by a path, and by an upgrade to nothing but what is served', async () => {
    const host = await attacked();
    const key = { 'x-session-api-key': KEY };
    const traps = fc.oneof(
      hostileText,
      fc.constantFrom('..', '../..', '%2e%2e', '....//', '/etc/passwd', '../../../../etc/passwd', TARGET, `${TARGET}/../${BYSTANDER}`),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('/view?path=', '/download_files?path=', `/sandboxes/${TARGET}/files?path=`),
        traps,
        async (path, trap) => {
          const answer = await fetch(host.url + path + encodeURIComponent(trap.toWellFormed()), { headers: key });
          const body = await answer.text();
          // Every sandbox has an /etc/passwd: the host's own has root's shell and more than a few lines.
          expect([path, trap, body.includes('www-data'), answer.status < 500 || answer.status === 503]).toEqual([path, trap, false, true]);
        },
      ),
      { numRuns: runs(60, 20), seed: SEED, endOnFailure: true },
    );
    const upgrade = (path: string, how = 'tcp', given = `X-Session-API-Key: ${KEY}\r\n`) =>
      host.raw(head('GET', path, `Connection: Upgrade\r\nUpgrade: ${how}\r\n`, given));
    const all = [
      ...['0', '1', '65536', '99999', '-1', '', '%31', '22/../22'].map((port) => upgrade(`/sandboxes/${TARGET}/tunnel/${port}`)),
      upgrade(`/sandboxes/${BYSTANDER}/../${TARGET}/tunnel/1`),
      upgrade(`/sandboxes/${TARGET}/calls/${'0'.repeat(32)}`),
      upgrade(`/sandboxes/${TARGET}/calls/x`),
      upgrade('/server_info'),
      upgrade(`/sandboxes/${TARGET}/tunnel/1`, 'websocket'),
      upgrade(`/sandboxes/${TARGET}/tunnel/1`, 'tcp', ''),
      upgrade(`/sandboxes/${TARGET}/calls/${'0'.repeat(32)}`, 'tcp', ''),
    ];
    for (const one of all) {
      await one.closed; // also of who never hangs up
      expect(statusOf(one.received())).toBeGreaterThanOrEqual(400);
    }
    await host.expectUnharmed();
  });

  itInFull('hangs up on who stops in the middle, with the key and without, and keeps nothing of it', async () => {
    const host = await attacked();
    const workspace = join(host.workspace, TARGET);
    writeFileSync(join(workspace, 'stored'), 'as it was');
    writeFileSync(join(workspace, 'large'), Buffer.alloc(32 * MIB));
    expect((await host.call('POST', '/list_files', { json: {} })).status).toBe(200); // the own sandbox, too, is up before anything is counted
    await host.expectUnharmed();
    const before = descriptors();
    const upload = 'Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 100000\r\n';
    const json = 'Content-Type: application/json\r\n';
    const slow = [
      '',
      'GET /ali',
      'GET /alive HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ',
      head('POST', '/list_files', `${json}Content-Length: 100\r\n`) + '{"path"',
      head('POST', '/execute_action', `${json}Transfer-Encoding: chunked\r\n`) + 'ffffff\r\n{',
      head('POST', '/upload_file?destination=/workspace', upload) +
        '--x\r\nContent-Disposition: form-data; name="file"; filename="half"\r\n\r\nhalf',
      head('PUT', `/sandboxes/${TARGET}/files?path=stored`, 'Content-Length: 1000\r\n') + 'half',
      head('PUT', `/sandboxes/${TARGET}/files?path=never`, 'Transfer-Encoding: chunked\r\n') + '4\r\nhalf\r\n',
      head('POST', `/sandboxes/${TARGET}/execute_action`, `${json}Content-Length: 1000\r\n`) + '{"key":',
      head('PUT', `/sandboxes/${TARGET}/files?path=stored`, 'Content-Length: 1000\r\n', '') + 'half',
      head('POST', '/execute_action', `${json}Content-Length: 1000000\r\n`, '') + '{',
    ].flatMap((bytes) => Array.from({ length: 8 }, () => host.raw(bytes)));
    const deaf = Array.from({ length: 4 }, () => {
      const one = host.raw(head('GET', `/sandboxes/${TARGET}/files?path=large`));
      one.socket.pause();
      return one;
    });
    await host.expectUnharmed();
    await Promise.all(slow.map(({ closed }) => closed));
    for (const { socket } of deaf) socket.destroy();
    await expect.poll(descriptors, WAIT).toBeLessThanOrEqual(before);
    // The sandbox's own executor takes back what it had begun, once it has heard of the end.
    const begun = () => readdirSync(workspace).filter((name) => name.startsWith('.tendon-'));
    await expect.poll(begun, WAIT).toEqual([]);
    expect(existsSync(join(workspace, 'never'))).toBe(false);
    expect(readFileSync(join(workspace, 'stored'), 'utf8')).toBe('as it was');
    await host.expectUnharmed();
  });

  itInFull('forgets who dies in the middle of taking, giving or following', async () => {
    const host = await attacked();
    const workspace = join(host.workspace, TARGET);
    const temporaries = () => readdirSync(workspace).filter((name) => name.startsWith('.tendon-')).length;
    writeFileSync(join(workspace, 'large'), Buffer.alloc(32 * MIB));
    await host.expectUnharmed();
    const before = descriptors();
    for (let round = 0; round < 4; round += 1) {
      const puts = Array.from({ length: 4 }, () =>
        host.raw(head('PUT', `/sandboxes/${TARGET}/files?path=dead`, 'Content-Length: 1000000\r\n') + 'half'),
      );
      const others = [`/sandboxes/${TARGET}/files?path=large`, `/sandboxes/${TARGET}/watch`, `/sandboxes/${TARGET}/ports/follow`].map(
        (path) => host.raw(head('GET', path)),
      );
      await Promise.all(others.map(async (one) => expect.poll(() => one.received().length, WAIT).toBeGreaterThan(0)));
      await expect.poll(temporaries, WAIT).toBe(4);
      for (const { socket } of [...puts, ...others]) {
        if (round % 2 === 0) socket.destroy();
        else socket.resetAndDestroy();
      }
      await expect.poll(temporaries, WAIT).toBe(0);
    }
    await expect.poll(descriptors, WAIT).toBeLessThanOrEqual(before);
    expect(existsSync(join(workspace, 'dead'))).toBe(false);
    await host.expectUnharmed();
  });
});
