// @vitest-environment happy-dom
import { expect, it, onTestFinished } from 'vitest';
import { inheritFocus } from './focus-heir.ts';

function page(html: string): HTMLElement {
  document.body.innerHTML = `<div id="app">${html}</div>`;
  const root = document.getElementById('app')!;
  onTestFinished(inheritFocus(root)!);
  return root;
}
const named = (name: string) => document.querySelector<HTMLElement>(`[name=${name}]`)!;
const focused = () => document.activeElement?.getAttribute('name');

it('CL942: what stands beside a removed element inherits the focus, never the page itself', async () => {
  page('<main><section><button name="gone"></button></section><button name="next"></button></main><a href="/" name="far"></a>');
  named('gone').focus();
  named('gone').closest('section')!.remove();
  await expect.poll(focused).toBe('next');
});

it('CL942: of the composer the field inherits it', async () => {
  page('<div class="composer-box"><button name="stop"></button><textarea id="composer" name="field"></textarea></div>');
  named('stop').focus();
  named('stop').remove();
  await expect.poll(focused).toBe('field');
});

it('CL942: what stands beside a button that is disabled inherits it, although the browser leaves it there until it draws', async () => {
  page('<form><input name="field"><button name="send"></button></form>');
  named('send').focus();
  named('send').setAttribute('disabled', '');
  await expect.poll(focused).toBe('field');
});

it('CL942: the element that has the focus stays focused', async () => {
  const root = page('<button name="a"></button><button name="b"></button>');
  named('a').focus();
  named('b').remove();
  root.append(document.createElement('p'));
  await Promise.resolve();
  expect(focused()).toBe('a');
});
