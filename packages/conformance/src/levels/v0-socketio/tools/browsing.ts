import { basename, dirname } from 'node:path/posix';
import type { Check } from '../../../check.ts';
import { browser, client, run, scenarios, type ExpectedObservation } from '../../play.ts';

const FORM = `<title>Form</title><h1>Order</h1><label>Name <input id=name></label>
<button id=go onclick="document.title = 'go ' + document.getElementById('name').value">Go</button>
<button id=ask onclick="document.title = 'asked ' + confirm('sure?')">Ask</button>
<a id=file href="data:application/zip,bytes" download="a b.zip">Get it</a>
<a id=window href="two.html" target=_blank>Open</a>`;
const TWO = '<title>Two</title><p>A <b>second</b> page</p>';
/** Nobody writes what it asks for. It waits for that instead of using up a processor until its tab is closed. */
const ENDLESS = `<title>end</title><script>setTimeout(() => {
  for (;;) { const request = new XMLHttpRequest(); request.open('GET', 'never', false); request.send(); }
}, 200)</script>`;
/** Where the sandbox serves this folder to itself: every server lets its browser there, whatever it says to files. */
const site = (at: string): string => `${origin(at)}/${basename(at)}`;
const origin = (at: string): string => `http://127.0.0.1:${20_000 + (Number.parseInt(at.slice(-4), 16) % 20_000)}`;
/** All folders are served, so that two rows with one port are no matter. */
const served = (at: string) =>
  run(
    `(python3 -m http.server ${new URL(origin(at)).port} --directory ${dirname(at)} --bind 127.0.0.1 > /dev/null 2>&1 &)
until curl -so /dev/null ${site(at)}; do sleep 0.05; done`,
    '',
  );
const pages = (at: string) =>
  run(`cd ${at}; cat > form.html <<'END'\n${FORM}\nEND\ncat > two.html <<'END'\n${TWO}\nEND\n${String(served(at).args.command)}`, '');
const failed = (error: RegExp): ExpectedObservation => ({ extras: { error: true, last_browser_action_error: error } });
const titled = (title: string): ExpectedObservation => ({ content: new RegExp(title), extras: { error: false } });

/** The browser of a conversation: pages that the sandbox serves itself, so that no network is needed. */
export const browsing: readonly Check[] = scenarios('v0-socketio', 'browser', [
  {
    id: 'browser-page',
    title: '`browse` opens a page and answers with its text, address, picture and HTML',
    cites: ['RT144', 'B10', 'K1', 'N1', 'N2', 'N3', 'N4', 'N6', 'N8', 'N9', 'Q34', 'Q50'],
    steps: (at) => [
      pages(at),
      client(
        'browse',
        { url: `${site(at)}/two.html`, thought: '', security_risk: null },
        { content: /second/, extras: { url: `${site(at)}/two.html`, error: false, screenshot: /\S/, trigger_by_action: 'browse' } },
      ),
    ],
  },
  {
    id: 'browser-tree',
    title: 'an interaction is answered with the accessibility tree, in which elements have ids',
    cites: ['RT145', 'RT146', 'K2', 'N5', 'N7', 'N10', 'N11', 'N12', 'Q35'],
    steps: (at) => [
      pages(at),
      client(
        'browse_interactive',
        { browser_actions: `goto("${site(at)}/form.html")`, return_axtree: true, thought: '', browsergym_send_msg_to_user: '' },
        {
          kind: 'browse',
          content: /\[\w+\] button 'Go'/,
          extras: { trigger_by_action: 'browse_interactive', set_of_marks: /\S/, goal_image_urls: /^$/, focused_element_bid: /^\w*$/ },
        },
      ),
    ],
  },
  {
    id: 'browser-language',
    title: 'calls stand one a line or after a semicolon, with comments, fences and every form of quotes; elements are named by selectors',
    cites: ['RT140', 'RT141', 'RT142', 'RT147'],
    steps: (at) => [
      pages(at),
      browser(`\`\`\`python\n# who\ngoto("${site(at)}/form.html"); fill("#name", 'A' "nn")\nclick("""#go""")\n\`\`\``, titled('go Ann')),
      browser("browser.clear('#name'); browser.fill('#name', 'Bo')\nbrowser.click('#go')", titled('go Bo')),
    ],
  },
  {
    id: 'browser-not-the-language',
    title: 'a text that is not of the language is refused with its place, before anything is carried out, and nothing is evaluated',
    cites: ['RT143'],
    steps: (at) => [
      browser(`goto("${site(at)}/form.html")\nclick(`, { ...failed(/line 2/), content: /line 2/ }),
      browser(`__import__("os").system("touch ${at}/evaluated")`, { extras: { error: true } }),
      run(`ls ${at}`, ''),
    ],
  },
  {
    id: 'browser-first-failure',
    title: 'the first call that fails ends the sequence, and the observation says how many were not carried out',
    cites: ['RT148'],
    steps: (at) => [
      pages(at),
      browser(`goto("${site(at)}/form.html")`, {}),
      browser('click("#nothing")\nfill("#name", "never")\nclick("#go")', failed(/#nothing[^]*2 actions/)),
      browser('click("#go")', titled("'go")),
    ],
  },
  {
    id: 'browser-dialogs',
    title: 'dialogs are answered and reported; a new window becomes the tab in use',
    cites: ['RT149'],
    steps: (at) => [
      pages(at),
      browser(`goto("${site(at)}/form.html")`, {}),
      browser('click("#ask")', { content: /sure\?[^]*asked true|asked true[^]*sure\?/ }),
      browser('click("#window")', { content: /second/, extras: { active_page_index: 1 } }),
      browser('tab_close()', { extras: { active_page_index: 0 } }),
    ],
  },
  {
    id: 'browser-download',
    title: 'a download is an observation of its kind, and a file of the workspace',
    cites: ['RT150', 'T2'],
    steps: (at) => [
      pages(at),
      browser(`goto("${site(at)}/form.html")`, {}),
      browser('click("#file")', { kind: 'download', extras: { file_path: /a b\.zip$/ } }),
      run('cat "/workspace/.downloads/a b.zip" 2>/dev/null || cat ".downloads/a b.zip"', 'bytes'),
    ],
  },
  {
    id: 'browser-refused',
    title: 'a page that cannot be opened is reported in one line, with its address',
    cites: ['RT151', 'RT265'],
    steps: (at) => [
      client('browse', { url: 'ftp://example.org/' }, { content: /\S/, extras: { error: true } }),
      client('browse', { url: `${site(at)}/none.html` }, { content: /^[^\n]+$/, extras: { error: true, url: `${site(at)}/none.html` } }),
      client('browse', { url: 'chrome://version' }, { content: /\S/, extras: { error: true } }),
    ],
  },
  {
    id: 'browser-killed',
    title: 'a browser that is killed is reported, and the next action has a new one',
    cites: ['RT154'],
    steps: (at) => [
      pages(at),
      browser(`goto("${site(at)}/two.html")`, {}),
      run('pkill -9 -i chrom; while pgrep -i chrom > /dev/null; do sleep 0.05; done; echo gone', 'gone'),
      browser(`goto("${site(at)}/two.html")`, { content: /second/ }),
    ],
  },
  {
    id: 'browser-endless-script',
    title: 'a page whose script runs without end costs its tab: the observation reports it, and the next action works',
    cites: ['RT152'],
    steps: (at) => [
      pages(at),
      run(`mkfifo ${at}/never; cat > ${at}/less.html <<'END'\n${ENDLESS}\nEND`, ''),
      browser(`goto("${site(at)}/less.html")\nnoop(1000)`, { content: /\S/ }),
      browser(`goto("${site(at)}/two.html")`, { content: /second/ }),
    ],
  },
  {
    id: 'browser-bounded',
    title: 'text is bounded; a page with very many elements has no tree, and the observation says so',
    cites: ['RT159'],
    steps: (at) => [
      served(at),
      run(`{ echo '<title>many</title>'; for i in $(seq 25000); do echo "<p>$i</p>"; done; } > ${at}/many.html`, ''),
      browser(`goto("${site(at)}/many.html")`, { content: /^[^]{1,60000}$/ }),
    ],
  },
  {
    id: 'browser-to-the-user',
    title: 'text of the agent to its user is a message',
    cites: ['RT160'],
    steps: () => [browser('send_msg_to_user("all done")', { extras: { messages_to_user: ['all done'] } })],
  },
]);
