import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import type { Target } from '../../target/target.ts';
import { askAs, raw, type RawAnswer } from '../raw.ts';
import { hasStatus, hasTypes } from '../shapes.ts';
import { bash, spoken } from '../v0-socketio/agent/talk.ts';

/** Answers with the headers of the request, and sets ones of its own. */
const PROGRAM = `
import http.server, json, sys
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        for name, value in (('Set-Cookie', 'app=1; Domain=localhost; Path=/'), ('Clear-Site-Data', '"*"'), ('X-Own', 'unchanged')):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(json.dumps({'path': self.path, 'headers': {k.lower(): v for k, v in self.headers.items()}}).encode())
        self.wfile.write(b'x' * 100000)
    def log_message(self, *args): pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), H)
print(server.server_address[1], file=open(sys.argv[1], 'w'), flush=True)
server.serve_forever()`;

interface Preview {
  readonly id: string;
  readonly link: URL;
  readonly cookie: string;
  readonly port: number;
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<RawAnswer>;
}

/** A program in the sandbox that serves, and the link to it as the server offers it, followed. */
async function preview(target: Target): Promise<Preview> {
  const start = `cat > /tmp/program.py <<'END'${PROGRAM}\nEND\nrm -f /tmp/port; (setsid python3 /tmp/program.py /tmp/port > /dev/null 2>&1 &); until test -s /tmp/port; do sleep 0.05; done; cat /tmp/port`;
  const { ready, frames } = await spoken(target, [bash(start)]);
  const port = Number(frames.find(({ observation }) => observation === 'run')?.content);
  const link = await target.eventually('link to what is served', async () => {
    const { body } = await target.ask('GET', `/api/conversations/${ready.id}/web-hosts`);
    const found = Object.entries((body.hosts ?? {}) as unknown as Record<string, number>).find(([, at]) => at === port);
    return found && new URL(found[0]);
  });
  const entered = await askAs(target, link.host, link.pathname);
  const cookie = (entered.headers['set-cookie']?.[0] ?? '').split(';')[0]!;
  return { id: ready.id, link, cookie, port, get: (path, headers = {}) => askAs(target, link.host, path, { cookie, ...headers }) };
}

/** What the agent's programs serve, shown on an origin of its own. */
export const previews: readonly Check[] = [
  {
    id: 'v0-rest/preview',
    title: 'a signed link offers what the agent serves; it puts its token into a cookie of its own origin and redirects',
    cites: ['SV60', 'SB110', 'SB111'],
    shares: 'preview',
    async run(target) {
      const { link, get } = await target.shared(preview);
      assert.notEqual(link.host, new URL(target.server.url).host);
      const page = await get('/deep?x=1');
      assert.equal(page.status, 200);
      assert.match(page.text, /^\{"path": "\/deep\?x=1"/);
      assert.match((await get('/api/conversations')).text, /^\{"path"/);
    },
  },
  {
    id: 'v0-rest/preview-locked',
    title: 'without the token of this conversation and port there is a page that says so and nothing of the sandbox',
    cites: ['SV61', 'SV96'],
    shares: 'preview',
    async run(target) {
      const { link, cookie } = await target.shared(preview);
      for (const headers of [{}, { cookie: `${cookie.split('=')[0]}=guessed` }]) {
        const locked = await askAs(target, link.host, '/', headers as Record<string, string>);
        assert.equal(locked.status, 401);
        assert.doesNotMatch(locked.text, /"path"/);
      }
      const api = await askAs(target, link.host, '/api/settings');
      assert.doesNotMatch(api.text, /llm_model/);
    },
  },
  {
    id: 'v0-rest/preview-own-pages',
    title: 'requests come from the preview’s own pages: a script of another page is refused',
    cites: ['SV62'],
    shares: 'preview',
    async run(target) {
      const { link, get } = await target.shared(preview);
      assert.equal((await get('/', { origin: link.origin, 'sec-fetch-site': 'same-origin' })).status, 200);
      assert.equal((await get('/', { origin: 'http://evil.example' })).status, 403);
      assert.equal((await get('/', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })).status, 403);
    },
  },
  {
    id: 'v0-rest/preview-no-api',
    title: 'the origin of a preview is never allowed at the API',
    cites: ['SV63', 'SV4'],
    shares: 'preview',
    async run(target) {
      const { link } = await target.shared(preview);
      const { host } = new URL(target.server.url);
      const answer = await raw(
        target,
        `GET /api/settings HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${link.origin}\r\nConnection: close\r\n\r\n`,
        5000,
      );
      assert.match(answer, /^HTTP\/1\.1 4\d\d/);
    },
  },
  {
    id: 'v0-rest/preview-headers',
    title:
      'our cookie and what a proxy may have added do not reach the sandbox; its own cookies lose their `Domain`, and headers that reach beyond an origin are dropped',
    cites: ['SV64', 'SV65', 'SV66'],
    shares: 'preview',
    async run(target) {
      const { get, cookie } = await target.shared(preview);
      const page = await get('/', { cookie: `a=1; ${cookie}; b=2`, 'x-forwarded-for': '10.0.0.1', 'x-own': 'unchanged' });
      const seen = JSON.parse(page.text.slice(0, page.text.indexOf('}}') + 2)) as { headers: Record<string, string> };
      assert.deepEqual([seen.headers.cookie, seen.headers['x-forwarded-for'], seen.headers['x-own']], ['a=1; b=2', undefined, 'unchanged']);
      assert.doesNotMatch(String(page.headers['set-cookie']), /domain/i);
      assert.equal(page.headers['clear-site-data'], undefined);
      assert.equal(page.headers['x-own'], 'unchanged');
      assert.ok(page.text.length > 100_000, `${page.text.length} bytes`);
    },
  },
  {
    id: 'v0-rest/preview-nothing',
    title: 'where nothing listens any more a page says so, which is never cached',
    cites: ['SV67'],
    async run(target) {
      const { get, id } = await preview(target);
      await target.ask('POST', `/api/conversations/${id}/events`, {
        body: { action: 'run', args: { command: 'pkill -f /tmp/program.py' } },
      });
      const gone = await target.eventually('page that says so', async () => {
        const page = await get('/', { accept: 'text/html' });
        return page.status >= 500 ? page : undefined;
      });
      assert.ok(gone.status === 502 || gone.status === 503, `status ${gone.status}`);
      assert.equal(gone.headers['cache-control'], 'no-store');
    },
  },
  {
    id: 'v0-rest/editor-link',
    title: '`vscode-url` links to an editor of the sandbox, or says in words why there is none',
    cites: ['SV69', 'RT186'],
    async run(target) {
      const answer = await target.ask('GET', `/api/conversations/${await target.converse()}/vscode-url`);
      assert.ok(answer.status < 500 || answer.status === 503, `status ${answer.status}`);
      hasTypes(answer.body, { vscode_url: 'string|null|undefined' }, 'answer');
      if (typeof answer.body.vscode_url !== 'string') assert.match(answer.text, /"(?:message|detail|error|reason)":"[^"]{10,}/);
      else hasStatus(answer, 200);
    },
  },
];
