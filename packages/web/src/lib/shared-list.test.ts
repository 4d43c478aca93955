// @vitest-environment happy-dom
import { expect, it, vi } from 'vitest';
import { sharedList } from './shared-list.ts';

const words = () => sharedList((entry) => (typeof entry === 'string' ? entry : undefined));

it('CL1160: two tabs do not lose each other’s entries, and each shows what the other adds', () => {
  const [here, there] = [words(), words()];
  expect([here.of('list'), there.of('list')]).toEqual([[], []]);
  const shown = vi.fn<() => void>();
  const leave = here.subscribe(shown);
  there.change('list', (entries) => [...entries, 'there']);
  dispatchEvent(new StorageEvent('storage', { key: 'tendon.list' }));
  expect(shown).toHaveBeenCalledOnce();
  here.change('list', (entries) => [...entries, 'here']);
  expect([here.of('list'), there.of('list')]).toEqual([
    ['there', 'here'],
    ['there', 'here'],
  ]);
  expect(here.of('list')).toBe(here.of('list'));
  there.change('list', () => []);
  expect(here.of('list')).toEqual([]);
  expect(localStorage.getItem('tendon.list')).toBeNull();
  leave();
});

it('CL1160: what is stored and is no entry is left out; where nothing can be stored, a list holds for the page', () => {
  localStorage.setItem('tendon.damaged', '["a", 1, {}]');
  localStorage.setItem('tendon.torn', '["a"');
  expect([words().of('damaged'), words().of('torn')]).toEqual([['a'], []]);
  const full = vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
    throw new Error('full');
  });
  const list = words();
  list.change('none', () => ['a']);
  list.change('none', (entries) => [...entries, 'b']);
  expect(list.of('none')).toEqual(['a', 'b']);
  full.mockRestore();
});
