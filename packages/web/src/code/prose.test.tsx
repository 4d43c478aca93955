// @vitest-environment happy-dom
import { cleanup, fireEvent, render, waitFor, within } from '@testing-library/react';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { Prose } from './prose.tsx';

afterEach(cleanup);

const html = (text: string): string => render(<Prose text={text} />).container.querySelector('.prose')!.innerHTML;

it.each([
  [
    '# One\n\nA *b* **c** ~~d~~ `e &lt;` &lt;f&gt; \\*',
    '<h1>One</h1><p>A <em>b</em> <strong>c</strong> <del>d</del> <code>e &amp;lt;</code> &lt;f&gt; *</p>',
  ],
  ['3. a\n4. b\n   - c', '<ol start="3"><li>a</li><li>b<ul><li>c</li></ul></li></ol>'],
  ['- [x] done', '<ul><li><input type="checkbox" disabled=""> done</li></ul>'],
  ['> a  \n> b', '<blockquote><p>a<br>b</p></blockquote>'],
  ['|a|\n|-|\n|`b`|', '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td><code>b</code></td></tr></tbody></table>'],
])('CL1130: the words of an agent are drawn as the markdown that they are: %j', (text, drawn) => {
  expect(html(text)).toBe(drawn);
});

it('CL1341: code has its language, its colours and a button that copies it; while it is being written it has one colour', async () => {
  const copied = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
  onTestFinished(() => copied.mockRestore());
  const text = '```TS title=a.ts\nconst a = "<b>";\n```';
  const { container } = render(<Prose text={text} />);
  expect(container.querySelector('figcaption span')?.textContent).toBe('ts');
  const coloured = '<code><span class="syn-key">const</span> a = <span class="syn-str">"&lt;b&gt;"</span>;\n</code>';
  await waitFor(() => expect(container.querySelector('pre')?.innerHTML).toBe(coloured));
  fireEvent.click(within(container).getByRole('button', { name: 'Copy' }));
  expect(copied).toHaveBeenCalledWith('const a = "<b>";');
  await within(container).findByRole('button', { name: 'Copied' });
  cleanup();
  expect(render(<Prose text={text} isPartial />).container.querySelectorAll('pre span')).toHaveLength(0);
});

it('CL1130: what is done in a list is ticked', () => {
  const { container } = render(<Prose text={'- [x] done\n- [ ] not yet'} />);
  expect([...container.querySelectorAll('input')].map(({ checked }) => checked)).toEqual([true, false]);
});

it.each([
  '<img src=x onerror=alert(1)> <script>alert(1)</script>',
  '<div onclick="alert(1)">x</div>',
  '[a](javascript:alert(1)) [a](java&#x73;cript:alert(1)) [a](&#106;avascript&colon;alert(1)) <javascript:alert(1)>',
  '[a](data:text/html,x) ![a](https://other.example/a.png) ![a](x.svg)',
])(
  'CL1131: what an agent writes brings no HTML, no address that runs something and no picture of another host into the page: %j',
  (text) => {
    const { container } = render(<Prose text={text} />);
    expect(container.querySelectorAll('a, img, script, div:not(.prose):not(:has(.prose)), [onclick]')).toHaveLength(0);
  },
);

it('CL1131: links open a page of their own without a referrer', () => {
  const { container } = render(<Prose text={'[a](https://a.example/?b=1&amp;c "t") https://b.example'} />);
  const links = [...container.querySelectorAll('a')].map((a) => [a.href, a.title, a.target, a.rel]);
  expect(links).toEqual([
    ['https://a.example/?b=1&c', 't', '_blank', 'noreferrer noopener'],
    ['https://b.example/', '', '_blank', 'noreferrer noopener'],
  ]);
});

it.each([['*a'.repeat(40_000)], ['>'.repeat(50_000)], ['a'.repeat(100_001)]])(
  'CL1132: a text that would hold the page while it is laid out is shown as it is',
  (text) => {
    const { container } = render(<Prose text={text} />);
    expect([container.textContent.includes(text.slice(0, 20)), container.querySelector('em, blockquote')]).toEqual([true, null]);
  },
);

it.each([
  ['a table of a few signs for each row', `${'|a'.repeat(1000)}|\n${'|-'.repeat(1000)}|\n${'|\n'.repeat(500)}`, 'td'],
  ['signs of emphasis in many paragraphs', `${'**a*_b '.repeat(1400)}\n\n`.repeat(10), 'p + p + p em'],
  ['an address that never comes', `${'a'.repeat(9900)}@\n\n`.repeat(10), 'a'],
])('CL1190: what would take more than the page has is shown as it is, however short it is written: %s', (_name, text, drawn) => {
  const { container } = render(<Prose text={text} />);
  expect([container.querySelectorAll(drawn).length, container.textContent.includes(text.slice(0, 20))]).toEqual([0, true]);
});

it('CL1190: a long table of an agent is drawn', () => {
  const { container } = render(<Prose text={`|a|b|\n|-|-|\n${'|1|2|\n'.repeat(800)}\nafter`} />);
  expect([container.querySelectorAll('td').length, container.querySelector('p')?.textContent]).toEqual([1600, 'after']);
});
