/** The rules of the browser, through the events of a conversation. */
import { provesRules } from './proves-rules.ts';
import { browser, rule, run, webRead, type Expected } from './rule-case.ts';

const FORM = `<title>Form</title><h1>Order</h1><label>Name <input id=name></label>
<button id=go onclick="document.title = 'go ' + document.getElementById('name').value">Go</button>
<button id=ask onclick="document.title = 'asked ' + confirm('sure?')">Ask</button>
<a id=file href="data:application/zip,bytes" download="a b.zip">Get it</a>
<a id=window href="two.html" target=_blank>Open</a>`;
const TWO = '<title>Two</title><p>A <b>second</b> page</p>';

const titled = (title: string): Expected => ({ extras: { title, error: false, last_browser_action_error: '' } });
const failed = (error: RegExp): Expected => ({ content: error, extras: { error: true, last_browser_action_error: error } });

provesRules([
  rule(
    'RT143',
    'what is no text of the language is refused with line and column, before a browser is started',
    run(`cat > form.html <<'END'\n${FORM}\nEND\ncat > two.html <<'END'\n${TWO}\nEND`, ''),
    browser('goto("/workspace/form.html")\nclick(', failed(/^Nothing was carried out: line 2, column 7: /)),
    run('pgrep -fc chrom', { content: '0', exitCode: 1 }),
  ),
  rule(
    'RT144',
    'a page is opened, and told as Markdown with its address, title and picture',
    webRead('/workspace/two.html', {
      content: /A \*\*second\*\* page$/,
      extras: { url: 'file:///workspace/two.html', title: 'Two', error: false, screenshot: /./, trigger_by_action: 'browse' },
    }),
  ),
  rule(
    'RT145',
    'an interaction is answered with the accessibility tree',
    browser('goto("/workspace/form.html")', { content: /\[\w+\] button 'Go'/, extras: { title: 'Form', focused_element_bid: '' } }),
  ),
  rule(
    'RT140',
    'calls stand one a line or after a semicolon, with comments and fences around them',
    browser('```python\n# who\nfill("#name", "Ann"); click("#go")\n```', titled('go Ann')),
  ),
  rule('RT142', 'elements are named by selectors, also in the older form', browser("browser.click('#go')", titled('go Ann'))),
  rule('RT147', 'actions do what they say', browser('clear("#name")\nfill("#name", "Bo")\nclick("#go")', titled('go Bo'))),
  rule(
    'RT148',
    'the first call that fails ends the sequence, and says how many were not carried out',
    browser(
      'click("#nothing")\nfill("#name", "never")\nclick("#go")',
      failed(/click in line 1: nothing on the page matches the selector #nothing\. The 2 actions after it were not carried out\./),
    ),
    browser('click("#go")', titled('go Bo')),
  ),
  rule(
    'RT149',
    'dialogs are answered, and a new window is the tab in use',
    browser('click("#ask")', { content: /sure\?/, extras: { title: 'asked true' } }),
    browser('click("#window")', { content: /opened a new tab, which is in use now/, extras: { title: 'Two', active_page_index: 1 } }),
    browser('tab_close()', { extras: { active_page_index: 0 } }),
  ),
  rule(
    'RT150',
    'a download is a file in .downloads of the workspace',
    browser('click("#file")', { observation: 'download' }),
    run('cat ".downloads/a b.zip"', 'bytes'),
  ),
  rule(
    'RT151',
    'what cannot be opened is said in words',
    webRead('ftp://example.org/', { extras: { error: true } }),
    webRead('/workspace/missing.html', { extras: { error: true } }),
  ),
  rule(
    'RT160',
    'a message to the user is told to the user',
    browser('send_msg_to_user("all done")', { extras: { messages_to_user: ['all done'] } }),
  ),
]);
