import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { itInFull } from '@tendon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBrowserSite, type BrowserSite } from './testing/browser-site.ts';
import { bidOf, chromiumOfRun, pngSize, startBrowserUser, type BrowserUser } from './testing/browser-user.ts';

const FORM = `<title>Form</title>
<label>Name <input id=name></label><label><input type=checkbox id=tick> Tick</label>
<select id=choice multiple><option value=r>Red<option value=b>Blue</select>
<button id=go onclick="log('go ' + name_.value)" oncontextmenu="log('menu');return false" ondblclick="log('twice')" onmouseover="log('over')">Go</button>
<input id=key onkeydown="log('key ' + (event.ctrlKey ? 'C-' : '') + event.key)"><input type=file id=file multiple onchange="log('files ' + [...this.files].map(f => f.name))">
<button id=chooser onclick="file.click()">Choose</button>
<div draggable=true id=from style="width:50px;height:30px" ondragstart="event.dataTransfer.setData('text', 'cargo')">From</div>
<div id=to style="width:50px;height:30px" ondragover="event.preventDefault()" ondrop="log('dropped ' + event.dataTransfer.getData('text'))">To</div>
<div id=area style="position:absolute;left:600px;top:300px;width:200px;height:200px;background:#eee" onmousedown="log('down')" onmouseup="log('up')">Area</div>
<div style="height:3000px"></div><p id=log role=log></p>
<script>const name_ = document.getElementById('name'), lines = []; function log(text) { lines.push(text); document.title = lines.join('; ') }
addEventListener('scroll', () => log('scrolled ' + scrollY), { once: true })</script>`;

let site: BrowserSite;
let user: BrowserUser;
beforeAll(async () => {
  site = await startBrowserSite({
    '/form': FORM,
    '/frames': `<title>Frames</title><h1>Outer</h1><iframe src="/inner"></iframe><iframe id=other></iframe><div id=host></div>
      <script>host.attachShadow({ mode: 'open' }).innerHTML = '<button onclick="document.title=1">In shadow</button>';
      other.src = location.href.replace('127.0.0.1', 'localhost').replace('frames', 'foreign')</script>`,
    '/inner': '<button onclick="parent.document.title=\'inner\'">Inner</button><iframe src="/innermost"></iframe>',
    '/innermost': '<button onclick="top.document.title=\'innermost\'">Innermost</button>',
    '/foreign': '<button onclick="this.textContent=\'Foreign clicked\'">Foreign</button>',
    '/one': '<title>One</title><a href="/two">to two</a><a href="/three" target=_blank>window</a>',
    '/two': '<title>Two</title><h1>Two</h1>',
    '/three': '<title>Three</title><h1>Three</h1>',
    '/dialogs': `<button onclick="document.title = [alert('careful'), confirm('sure?'), prompt('name?', 'Ann')].join()">Ask</button>`,
    '/file': (response) =>
      response
        .writeHead(200, { 'content-type': 'application/zip', 'content-disposition': 'attachment; filename="a b.zip"' })
        .end('zip bytes'),
    '/paper.pdf': (response) => response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-1.4 made up'),
    '/broken': (response) => {
      response.writeHead(200, { 'content-disposition': 'attachment; filename="half.zip"', 'content-length': 1000 });
      response.write('half', () => setTimeout(() => response.destroy(), 200));
    },
    '/gives': '<title>Gives</title><a href="/file">Get it</a>',
    '/covered': '<button id=under>Under</button><div style="position:fixed;inset:0">cover</div>',
  });
  user = await startBrowserUser({}, chromiumOfRun());
});
afterAll(async () => {
  await user.executor.kill();
  site.close();
});
const open = (path: string, ...actions: readonly string[]) => user.do(`goto("${site.origin}${path}")`, ...actions);

describe('browse_interactive', () => {
  itInFull('RT145, RT146: the tree names elements over frames and shadow roots, ids work there and stay', async () => {
    const { content, extras } = await open('/frames');
    expect(content).toMatch(/^RootWebArea 'Frames'/);
    const ids = ['Inner', 'Innermost', 'Foreign', 'In shadow'].map((name) => bidOf(content, `button '${name}'`));
    expect(ids).toEqual([
      expect.stringMatching(/^a\d+$/),
      expect.stringMatching(/^aa\d+$/),
      expect.stringMatching(/^b\d+$/),
      expect.stringMatching(/^\d+$/),
    ]);
    expect(extras).toMatchObject({
      trigger_by_action: 'browse_interactive',
      error: false,
      filter_visible_only: false,
      focused_element_bid: '',
    });
    expect(extras.extra_element_properties).toHaveProperty(ids[2]!, expect.objectContaining({ visibility: 1, set_of_marks: true }));
    expect(extras.dom_object).toHaveProperty('documents');
    expect(pngSize(extras.set_of_marks!)).toEqual(pngSize(extras.screenshot!));
    for (const [index, sign] of [
      "RootWebArea 'inner'",
      "RootWebArea 'innermost'",
      "button 'Foreign clicked'",
      "RootWebArea '1'",
    ].entries()) {
      const after = await user.do(`click("${ids[index]}")`);
      expect(after.content).toContain(sign);
      expect(bidOf(after.content, `button 'Inner'`)).toBe(ids[0]);
    }
  });

  it.each([
    ['fill("#name", "Ann")\nclick("#go")', 'over; go Ann'],
    ['fill("#name", "it\'s", enable_autocomplete_menu=True)\nclick("#go")', "over; go it's"],
    ['fill("#name", "x")\nclear("#name")\nclick("#go")', 'over; go'],
    ["browser.click('#go', 'right')", 'over; menu'],
    ['dblclick("#go")', 'over; go ; go ; twice'],
    ['hover("#go")', 'over'],
    ['press("#key", "Control+b")', 'key C-Control; key C-b'],
    ['focus("#key")\nkeyboard_press("x")', 'key x'],
    ['focus("#key")\nkeyboard_down("y")\nkeyboard_up("y")', 'key y'],
    ['focus("#name")\nkeyboard_type("Bo")\nkeyboard_insert_text("b")\nclick("#go")', 'over; go Bob'],
    ['drag_and_drop("#from", "#to")', 'dropped cargo'],
    ['upload_file("#file", ["up.txt", "two.txt"])', 'files up.txt,two.txt'],
    ['upload_file("#chooser", "up.txt")', 'files up.txt'],
    ['mouse_click(700, 400)', 'down; up'],
    ['mouse_move(700, 400); mouse_down(700, 400); mouse_up(700, 410)', 'down; up'],
    ['mouse_dblclick(700, 400)', 'down; up; down; up'],
    ['mouse_drag_and_drop(650, 350, 700, 400)', 'down; up'],
    ['scroll(0, 500)\nnoop(300)', expect.stringMatching(/^scrolled \d+$/)],
  ])('RT147: %s', async (actions, title) => {
    for (const name of ['up.txt', 'two.txt']) writeFileSync(join(user.executor.workspace, name), name);
    const { extras } = await open('/form', actions as string);
    expect(extras).toMatchObject({ title, last_browser_action_error: '', last_browser_action: expect.stringContaining(actions as string) });
  });

  it('RT147: choices and checks show in the tree', async () => {
    const { content, extras } = await open('/form', 'select_option("#choice", ["Red", "b"])', 'check("#tick")', 'focus("#key")');
    expect(content.match(/option '(Red|Blue)'.*selected=True/g)).toHaveLength(2);
    expect(content).toMatch(/checkbox 'Tick'.*checked='true'/);
    expect(content).toContain(`[${extras.focused_element_bid}] textbox '', clickable, focused`);
    expect((await user.do('uncheck("#tick")')).content).toMatch(/checkbox 'Tick'.*checked='false'/);
  });

  itInFull('RT147, RT149: back, forward and tabs; a new window is the tab in use', async () => {
    await open('/one', 'browser.click("a")');
    expect((await user.do('go_back()')).extras.title).toBe('One');
    expect((await user.do('go_forward()')).extras.title).toBe('Two');
    expect((await user.do('go_forward()')).extras.last_browser_action_error).toContain('there is no page to go forward to');
    const opened = await user.do('go_back()', 'click("a[target]")');
    expect(opened.content).toContain('The page opened a new tab, which is in use now');
    expect(opened.extras).toMatchObject({
      title: 'Three',
      active_page_index: 1,
      open_pages_urls: [`${site.origin}/one`, `${site.origin}/three`],
    });
    expect((await user.do('tab_focus(0)')).extras).toMatchObject({ title: 'One', active_page_index: 0 });
    expect((await user.do('tab_focus(7)')).extras.last_browser_action_error).toContain('there is no tab 7; there are 0 to 1');
    expect((await user.do('tab_new()', `goto("${site.origin}/two")`)).extras).toMatchObject({ title: 'Two', active_page_index: 2 });
    expect((await user.do('tab_close()')).extras).toMatchObject({ title: 'Three', active_page_index: 1 });
    expect((await user.do('tab_close()', 'tab_close()')).extras).toMatchObject({ url: 'about:blank', open_pages_urls: ['about:blank'] });
  });

  it('RT148: the first failure ends the sequence and is explained', async () => {
    const missing = await open('/form', 'click("#nothing")', 'fill("#name", "never")', 'noop()');
    expect(missing.extras).toMatchObject({
      error: true,
      last_browser_action_error:
        'click in line 2: nothing on the page matches the selector #nothing. The 2 actions after it were not carried out.',
    });
    expect(missing.content).toContain('nothing on the page matches');
    expect(missing.content).toContain("button 'Go'");
    expect((await user.do('click("999")')).extras.last_browser_action_error).toContain(
      'there is no element with the id 999 on the page now',
    );
    expect((await user.do('upload_file("#file", "no.txt")')).extras.last_browser_action_error).toContain('there is no file');
    expect((await open('/covered', 'click("#under")')).extras.last_browser_action_error).toMatch(/cover.*intercepts pointer events/);
    expect((await user.do('press("body", "NoSuchKey")')).extras.last_browser_action_error).toContain('Unknown key');
  });

  it('RT149: dialogs are answered and reported', async () => {
    const { content, extras } = await open('/dialogs', 'browser.click("button")');
    expect(extras.title).toBe(',true,Ann');
    expect(content).toContain('dialog (confirm): "sure?". It was answered with OK.');
    expect(content).toContain('dialog (prompt): "name?". It was answered with "Ann" and OK.');
  });

  it('RT150: a download by link or address is a file of the workspace, also a PDF', async () => {
    const clicked = await open('/gives', 'browser.click("a")');
    const folder = join(user.executor.workspace, '.downloads');
    expect(clicked).toMatchObject({ kind: 'download', extras: { file_path: join(folder, 'a b.zip') } });
    expect(clicked.content).toMatch(/Downloaded .*\/file to .*a b\.zip \(9 bytes\)\./);
    expect(clicked.content).toContain("RootWebArea 'Gives'");
    expect(readFileSync(join(folder, 'a b.zip'), 'utf8')).toBe('zip bytes');
    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe('*\n');
    expect(await user.browse(`${site.origin}/file`)).toMatchObject({ kind: 'download', extras: { file_path: join(folder, 'a b-1.zip') } });
    expect(await user.browse(`${site.origin}/paper.pdf`)).toMatchObject({
      kind: 'download',
      extras: { file_path: join(folder, 'paper.pdf') },
    });
  });

  itInFull('RT150: a download that fails is noted, and the page is shown as it is', async () => {
    const { content, extras } = await open('/one', `goto("${site.origin}/broken")`, 'noop(1000)');
    expect(content).toMatch(/The download of .*\/broken failed: /);
    expect(extras.title).toBe('One');
  });

  it('RT160: a message of the agent reaches its user', async () => {
    const { content, extras } = await user.do('send_msg_to_user("It is 42.")', 'report_infeasible("no login")');
    expect(extras.messages_to_user).toEqual(['It is 42.', 'This cannot be done: no login']);
    expect(content).toContain('Message for the user: It is 42.');
  });
});
