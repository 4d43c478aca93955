// @vitest-environment happy-dom
import { expect, it, onTestFinished } from 'vitest';
import { markKeyFocus } from './focus-by-key.ts';

const press = (type: 'keydown' | 'keyup') => document.dispatchEvent(new KeyboardEvent(type, { key: 'Tab' }));

it('CL1337: the focus that a key brought is marked until it goes; the one of a page that opens, or of a click, is not', () => {
  document.body.innerHTML = '<div id="app"><textarea id="field"></textarea><button id="send"></button></div>';
  onTestFinished(() => document.body.replaceChildren());
  onTestFinished(markKeyFocus(document.getElementById('app'))!);
  const field = document.getElementById('field')!;
  const send = document.getElementById('send')!;
  const marked = () => [...document.querySelectorAll('[data-by-key]')].map(({ id }) => id);
  field.focus();
  expect(marked()).toEqual([]);
  press('keydown');
  send.focus();
  press('keyup');
  expect(marked()).toEqual(['send']);
  field.focus();
  expect(marked()).toEqual([]);
  press('keydown');
  field.dispatchEvent(new Event('pointerdown', { bubbles: true }));
  send.focus();
  expect(marked()).toEqual([]);
});
