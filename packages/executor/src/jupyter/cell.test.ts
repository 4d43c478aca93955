import { expect, it } from 'vitest';
import { readRichOutput } from './cell.ts';

it.each([
  [{ 'text/plain': '4' }, '4'],
  [{ 'text/plain': '<IPython.core.display.Markdown object>', 'text/markdown': '**b**' }, '**b**'],
  [{ 'text/plain': '   a\n0  1', 'text/html': '<table><tr><td>1</td></tr></table>' }, '   a\n0  1'],
  [{ 'text/plain': '<IPython.core.display.HTML object>', 'text/html': '<script>x()</script><h1>T</h1><p>1 &lt; 2</p>' }, 'T\n1 < 2'],
  [{ 'text/plain': '<IPython.core.display.Latex object>', 'text/latex': '$x$' }, '$x$'],
  [{ 'text/plain': ['a\n', 'b'] }, 'a\nb'],
  [{ 'application/json': { a: 1 } }, '{"a":1}'],
  [{ 'text/html': '<style>'.repeat(50_000) }, ''],
  [null, ''],
  [{ 'text/plain': 7 }, ''],
])('RT105: %j is read as %j', (data, text) => {
  expect(readRichOutput(data)).toEqual({ text });
});

it('RT109: an image is a data URL, its text what the object says of itself', () => {
  const figure = { 'text/plain': '<Figure size 640x480 with 1 Axes>', 'image/png': 'iVBO\nRw0=\n' };
  expect(readRichOutput(figure)).toEqual({ text: '<Figure size 640x480 with 1 Axes>', image: 'data:image/png;base64,iVBORw0=' });
});
