import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../platform/config/config.ts';
import { temporaryFolder, testServer, type TestServer } from '../server.test-support.ts';

function built(): string {
  const root = join(temporaryFolder(), 'dist');
  mkdirSync(join(root, 'assets'), { recursive: true });
  writeFileSync(join(root, 'index.html'), '<!doctype html><script>theme()</script><script src="/assets/a.js"></script>');
  writeFileSync(join(root, 'assets/a.js'), 'run()');
  writeFileSync(join(root, '../secret.txt'), 'secret');
  symlinkSync(join(root, '../secret.txt'), join(root, 'link.txt'));
  return root;
}

/** As it is: `fetch` would tidy the path. */
function raw(server: TestServer, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    request({ hostname, port, path }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    })
      .on('error', reject)
      .end();
  });
}

describe('SV19: the web app', () => {
  it('is one page for every path that is no file, with a policy that admits its own scripts only', async () => {
    const server = await testServer({ webRoot: built() });
    for (const path of ['/', '/conversations/abc', '/settings?x=1']) {
      const page = await server.get(path);
      expect([path, page.status, page.headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8']);
      expect(page.headers.get('cache-control')).toBe('no-cache, no-store, must-revalidate, max-age=0');
      const policy = page.headers.get('content-security-policy');
      expect(policy).toMatch(/script-src 'self' 'sha256-[A-Za-z0-9+/=]{44}';/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('keeps assets for good and answers 304 to those who have them', async () => {
    const server = await testServer({ webRoot: built() });
    const asset = await server.get('/assets/a.js');
    expect([asset.headers.get('cache-control'), await asset.text()]).toEqual(['public, max-age=2592000, immutable', 'run()']);
    expect((await server.get('/assets/a.js', { 'if-none-match': asset.headers.get('etag')! })).status).toBe(304);
    expect((await fetch(`${server.url}/assets/a.js`, { method: 'HEAD' })).headers.get('content-length')).toBe('5');
  });

  it('CL595: a file is sent in the smallest encoding that lies beside it and that the client takes', async () => {
    const root = built();
    const code = 'run();'.repeat(1_000);
    writeFileSync(join(root, 'assets/b.js'), code);
    writeFileSync(join(root, 'assets/b.js.br'), brotliCompressSync(code));
    writeFileSync(join(root, 'assets/b.js.gz'), gzipSync(code));
    const server = await testServer({ webRoot: root });
    const tags = new Set<string | null>();
    for (const [accepted, sent] of [
      ['gzip, deflate, br, zstd', 'br'],
      ['gzip;q=1.0, br;q=0', 'gzip'],
      ['GZIP', 'gzip'],
      ['deflate', null],
      ['', null],
    ] as const) {
      const answer = await server.get('/assets/b.js', { 'accept-encoding': accepted });
      const { headers } = answer;
      expect([accepted, headers.get('content-encoding'), await answer.text()]).toEqual([accepted, sent, code]);
      expect([headers.get('vary'), headers.get('content-type')]).toEqual([
        expect.stringContaining('Accept-Encoding'),
        'text/javascript; charset=utf-8',
      ]);
      expect(Number(headers.get('content-length')) < 200).toBe(sent !== null);
      tags.add(headers.get('etag'));
      const again = await server.get('/assets/b.js', { 'accept-encoding': accepted, 'if-none-match': headers.get('etag')! });
      expect([again.status, again.headers.get('content-encoding')]).toEqual([304, null]);
    }
    expect(tags.size).toBe(3);
    expect((await server.get('/assets/a.js')).headers.get('content-encoding')).toBeNull();
  });

  it.each(['/assets/none.js', '/none.png', '/link.txt', '/../secret.txt', '/..%2fsecret.txt', '/assets/..%2f..%2fsecret.txt', '/%00.txt'])(
    '%s is not there',
    async (path) => {
      const server = await testServer({ webRoot: built() });
      expect([400, 404]).toContain(await raw(server, path));
    },
  );

  it('SV158: another frontend is served in its place, with what it loads', async () => {
    const root = built();
    mkdirSync(join(root, 'locales/en'), { recursive: true });
    writeFileSync(join(root, 'locales/en/translation.json'), '{"A":"b"}');
    const server = await testServer({ env: { TENDON_WEB_ROOT: root } });
    const page = await server.get('/conversations/abc');
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('theme()')]);
    expect(page.headers.get('content-security-policy')).toBe("object-src 'none'; frame-ancestors 'none'");
    expect(await (await server.get('/locales/en/translation.json')).json()).toEqual({ A: 'b' });
    expect((await server.get('/locales/de/translation.json')).status).toBe(404);
    expect(readConfig({ TENDON_WEB_ROOT: join(root, 'assets') })).toEqual({
      ok: false,
      problems: ['TENDON_WEB_ROOT: a folder with an index.html is expected'],
    });
  });

  it('SV151: no page is given in place of what a program or another frontend asks for, built or not', async () => {
    const asked = { accept: 'application/json, text/plain, */*' };
    for (const webRoot of [built(), join(temporaryFolder(), 'none')]) {
      const server = await testServer({ webRoot });
      for (const [path, headers] of [
        ['/locales/en/translation.json', {}],
        ['/config.json', {}],
        ['/assets/none.js', {}],
        ['/feedback/conversation/x/batch', asked],
        ['/mcp/other', { accept: 'application/json, text/event-stream' }],
        ['/no-such-page', { 'sec-fetch-dest': 'empty' }],
      ] as const) {
        const answer = await server.get(path, headers);
        expect([path, answer.status, await answer.json()]).toMatchObject([path, 404, { detail: 'Not Found' }]);
      }
      const worker = { 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'navigate' };
      for (const path of ['/', '/index.html', '/settings']) {
        const opened = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
        for (const headers of [opened, { ...opened, ...worker }])
          expect([path, (await server.get(path, headers)).status]).toEqual([path, 200]);
      }
    }
  });

  it('says so when it is not built', async () => {
    const server = await testServer({ webRoot: join(temporaryFolder(), 'none') });
    expect(await (await server.get('/')).text()).toContain('npm run build');
  });
});
