import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';

const elements = new Map();
for (const [, id] of readFileSync('index.html', 'utf8').matchAll(/ id="(\w+)"/g)) elements.set(id, element());
assert(['count', 'add', 'reset'].every((id) => elements.has(id)));

function element() {
  const listeners = [];
  return {
    textContent: '',
    onclick: null,
    addEventListener: (type, listener) => type === 'click' && listeners.push(listener),
    click() {
      for (const listener of [...listeners, this.onclick]) listener?.({ target: this });
    },
    set innerText(text) {
      this.textContent = text;
    },
  };
}

const get = (id) => elements.get(id) ?? null;
const document = { getElementById: get, querySelector: (selector) => get(selector.replace('#', '')), addEventListener: (_type, ready) => ready() };
runInNewContext(readFileSync('app.js', 'utf8'), { document, window: { addEventListener: (_type, ready) => ready() } });
const after = (...ids) => {
  for (const id of ids) get(id).click();
  return get('count').textContent.trim();
};
assert.equal(after('add'), '1 click');
assert.equal(after('add'), '2 clicks');
assert.equal(after('reset'), '0 clicks');
assert.equal(after('add', 'add', 'add'), '3 clicks');
