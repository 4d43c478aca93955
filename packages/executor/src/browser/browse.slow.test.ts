import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { itInFull, someOf } from '@tendon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBrowserSite, type BrowserSite } from './testing/browser-site.ts';
import { chromiumOfRun, pngSize, startBrowserUser, type BrowserUser } from './testing/browser-user.ts';

const ARTICLE = `<title>On tendons</title><nav><a href="/a">Other</a></nav><article><h1>Tendons</h1>
<p>A tendon joins a <b>muscle</b> to a <a href="/bone">bone</a>. ${'It is strong and thin. '.repeat(20)}</p>
<ul><li>one</li><li>two</li></ul><pre><code class="language-js">let x = 1;</code></pre>
<table><tr><th>Part</th><th>Count</th></tr><tr><td>Hand</td><td>2</td></tr></table></article>
<div style="display:none">not to be seen</div><script>document.body.dataset.ran = 'yes'</script>`;

let site: BrowserSite;
let user: BrowserUser;
beforeAll(async () => {
  site = await startBrowserSite({
    '/article': ARTICLE,
    '/list': `<title>A list</title><nav>${'<a href="/x">First of all</a>'.repeat(12)}</nav><form><input name=q><button>Search</button></form><ul>${'<li><a href="/n">Item</a></li>'.repeat(30)}</ul>`,
    '/late': `<p id=p>early</p><script>fetch('/slow').then(r => r.text()).then(t => p.textContent = t)</script>`,
    '/slow': (response) => void setTimeout(() => response.end('arrived'), 400),
    '/data.json': (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"answer": 42}'),
    '/moved': (response) => response.writeHead(302, { location: '/article' }).end(),
    '/circle': (response) => response.writeHead(302, { location: '/circle' }).end(),
    '/strict': (response) =>
      response
        .writeHead(200, {
          'content-type': 'text/html',
          'content-security-policy': "default-src 'none'; require-trusted-types-for 'script'",
        })
        .end(ARTICLE),
    '/hostile': `<script>Array.prototype.map = JSON.stringify = document.createTreeWalker = Element.prototype.setAttribute = () => { throw 1 }</script><h1>Still here</h1>`,
    '/giant': `<title>Giant</title>${'<p>a paragraph of a very long page</p>'.repeat(30_000)}<b>the end</b>`,
  });
  user = await startBrowserUser({}, chromiumOfRun());
});
afterAll(async () => {
  await user.executor.kill();
  site.close();
});

describe('browse', () => {
  itInFull('RT144: the page comes as Markdown, with its address, title, status, picture and HTML', async () => {
    const { kind, content, extras } = await user.browse(`${site.origin}/article`);
    expect(kind).toBe('browse');
    expect(content).toMatch(/A tendon joins a \*\*muscle\*\* to a \[bone\]\(http:\/\/127.0.0.1:\d+\/bone\)/);
    expect(content).toContain('- one\n- two');
    expect(content).toContain('| Part | Count |');
    expect(content).toContain('```js\nlet x = 1;\n```');
    expect(content).not.toContain('not to be seen');
    expect(extras).toMatchObject({
      ...{ url: `${site.origin}/article`, title: 'On tendons', status_code: 200, error: false, trigger_by_action: 'browse' },
      ...{ open_pages_urls: [`${site.origin}/article`], active_page_index: 0, last_browser_action_error: '' },
      html: expect.stringContaining('<body data-ran="yes">'),
      ...{ axtree_object: {}, dom_object: {}, set_of_marks: '' },
    });
    expect(pngSize(extras.screenshot!)).toEqual([1280, 720]);
  });

  it('RT144: a page that is no article is read whole, with its menu', async () => {
    const { content } = await user.browse(`${site.origin}/list`);
    expect(content).toContain('[First of all]');
    expect(content.match(/Item/g)).toHaveLength(30);
  });

  it('RT144: what scripts fetch is waited for', async () => {
    expect((await user.browse(`${site.origin}/late`)).content).toContain('arrived');
  });

  it('RT144: other texts come as they are, redirects are followed, and the status is shown', async () => {
    expect(await user.browse(`${site.origin}/data.json`)).toMatchObject({ content: '{"answer": 42}' });
    expect((await user.browse(`${site.origin}/moved`)).extras).toMatchObject({ url: `${site.origin}/article`, status_code: 200 });
    expect(await user.browse(`${site.origin}/missing`)).toMatchObject({
      content: '# Not here',
      extras: { status_code: 404, error: false },
    });
  });

  it('RT144: neither a strict policy nor scripts that break everything keep a page from being read', async () => {
    expect((await user.browse(`${site.origin}/strict`)).content).toContain('A tendon joins a **muscle**');
    expect((await user.browse(`${site.origin}/hostile`)).content).toContain('Still here');
  });

  it('RT145: with `return_axtree` the tree follows, with the ids of elements', async () => {
    const { content, extras } = await user.browse(`${site.origin}/article`, { return_axtree: true });
    expect(content).toContain('A tendon joins a **muscle**');
    expect(content).toMatch(/\[\d+\] link 'Other', clickable, url='http:\/\/127.0.0.1:\d+\/a'/);
    expect(extras.axtree_object).toHaveProperty('nodes');
    expect(pngSize(extras.set_of_marks!)).toEqual([1280, 720]);
  });

  itInFull('RT146: of a long page the tree comes from the top as far as it fits, and says how much does not', async () => {
    const page = 'data:text/html,<script>for (let n = 0; n < 3000; n++) document.write(`<p><a href="%23${n}">Link ${n}</a></p>`)</script>';
    const { extras } = await user.browse(page, { return_axtree: true });
    const { nodes, nodes_left_out: left } = extras.axtree_object as {
      nodes: { nodeId: string; childIds?: string[] }[];
      nodes_left_out: number;
    };
    const ids = new Set(nodes.map(({ nodeId }) => nodeId));
    expect(nodes.length).toBeGreaterThan(100);
    expect(left).toBeGreaterThan(3000);
    expect(JSON.stringify(extras.axtree_object).length).toBeLessThanOrEqual(64 * 1024);
    expect(nodes.flatMap(({ childIds = [] }) => childIds).every((id) => ids.has(id))).toBe(true);
  });

  itInFull('RT159: of a giant page the beginning is shown, with the path of the whole', async () => {
    const { content, extras } = await user.browse(`${site.origin}/giant`, { return_axtree: true });
    expect(content.length).toBeLessThan(30_000);
    expect(content).toContain('elements, too many for a tree');
    const path = /The whole of it is in (\S+)\]/.exec(content)?.[1] ?? '';
    expect(readFileSync(path, 'utf8')).toContain('the end');
    expect(extras.html!.length).toBeLessThan(600_000);
  });

  it.each(
    someOf(
      [
        ['chrome://settings', 'addresses with chrome: are not opened; there are http, https'],
        ['javascript:alert(1)', 'addresses with javascript: are not opened'],
        ['file:///etc/passwd', 'outside of the workspace'],
        ['view-source:file:///etc/passwd', 'outside of the workspace'],
        ['file:///nowhere', 'there is no file'],
        ['http://', 'is not an address'],
        ['', 'the address is empty'],
        ['127.0.0.1:1', 'browsers do not open that port'],
        ['127.0.0.1:2999', 'nothing listens there'],
        ['http://no-such-name.invalid/', 'could not be opened'],
      ] as const,
      5,
    ),
  )('RT151: %j is answered with %j', async (url, words) => {
    const { kind, content, extras } = await user.browse(url);
    expect([kind, extras.error, extras.last_browser_action_error]).toEqual(['browse', true, expect.stringContaining(words)]);
    expect(content).toContain(words);
  });

  it('RT265: a page that could not be opened is one line and the requested address, and nothing of the browser’s own page', async () => {
    const url = 'http://127.0.0.1:2999/a?b=1';
    const line = `${url} could not be opened: nothing listens there (ERR_CONNECTION_REFUSED)`;
    const { content, extras } = await user.browse(url);
    expect(content).toBe(`Error of the last action: ${line}`);
    expect(extras).toMatchObject({ url, error: true, screenshot: '', open_pages_urls: expect.arrayContaining([url]) as string[] });
    expect(JSON.stringify([extras.html, extras.title, extras.open_pages_urls])).not.toMatch(/chrome-error|base64/);
    expect((await user.browse(`${site.origin}/article`)).extras).toMatchObject({ url: `${site.origin}/article`, error: false });
  });

  itInFull('RT265: so is one that a link leads to', async () => {
    const url = 'http://127.0.0.1:2999/from-a-link';
    await user.browse(`data:text/html,<a id=gone href="${url}">gone</a>`);
    const { content, extras } = await user.do('click("#gone")');
    expect(content).toContain(`${url} could not be opened: nothing listens there`);
    expect(extras).toMatchObject({ url, error: true, set_of_marks: '', axtree_object: {} });
  });

  itInFull('RT151: files of the workspace, data, the source of a page and a name without a scheme are opened', async () => {
    const path = join(user.executor.workspace, 'page.html');
    writeFileSync(path, '<h1>A file</h1>');
    expect(await user.browse(path)).toMatchObject({ content: '# A file', extras: { url: `file://${path}`, error: false } });
    expect(await user.browse('data:text/html,<h1>Inline</h1>')).toMatchObject({ content: '# Inline' });
    expect(await user.browse('about:blank')).toMatchObject({ content: '', extras: { error: false } });
    expect((await user.browse(`view-source:${site.origin}/list`)).content).toContain('<button>Search</button>');
    expect(await user.browse(site.origin.slice('http://'.length))).toMatchObject({ extras: { status_code: 404 } });
    expect((await user.browse(`${site.origin}/circle`)).content).toContain('redirects in a circle');
  });

  it('RT144: the executor keeps nothing of the browser that it did not need before the first action', async () => {
    const fresh = await startBrowserUser({}, chromiumOfRun());
    const before = (await fresh.executor.run('ps -e -o args | grep -c -i -E "[c]hromium|[b]rowser.mjs|browser/host/[m]ain"')).content;
    await fresh.executor.kill();
    expect(before).toBe('0');
  });
});
