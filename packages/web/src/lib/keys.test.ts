import { describe, expect, it } from 'vitest';
import { bestFirst, type Command, fuzzyMatches } from './commands.ts';
import { keyMatches, keyText } from './keys.ts';

const pressed = (key: string, with_: Partial<Record<'metaKey' | 'ctrlKey' | 'shiftKey' | 'altKey', boolean>> = {}) => ({
  key,
  metaKey: false,
  ctrlKey: false,
  shiftKey: false,
  altKey: false,
  ...with_,
});

it('CL943: the palette shows what waits for a person first, then what is here, and of what is typed the best match', () => {
  const command = (id: string, title: string, group: Command['group']): Command => ({ id, title, group, run: () => undefined });
  const all = [
    command('new', 'New task', 'App'),
    command('stop', 'Stop', 'Here'),
    command('approve', 'Approve', 'Here'),
    command('c', 'Add a step to the export', 'Conversations'),
    command('next', 'Next event', 'Go to'),
  ];
  const titles = (typed: string) => bestFirst(typed, all).map(({ id }) => id);
  expect(titles('')).toEqual(['approve', 'stop', 'next', 'c', 'new']);
  expect(titles('st')).toEqual(['stop', 'c']);
});

describe('keys', () => {
  it('CL29: mod is Command on a Mac and Control on other machines', () => {
    expect(keyMatches('mod+k', pressed('k', { metaKey: true }), true)).toBe(true);
    expect(keyMatches('mod+k', pressed('k', { ctrlKey: true }), true)).toBe(false);
    expect(keyMatches('mod+k', pressed('k', { ctrlKey: true }), false)).toBe(true);
    expect([
      keyText('mod+enter', true),
      keyText('mod+enter', false),
      keyText('ctrl+c', true),
      keyText('j', false),
      keyText('f6', false),
      keyText('down', false),
    ]).toEqual(['⌘⏎', 'Ctrl ⏎', '⌃C', 'j', 'F6', '↓']);
  });

  it('CL29: letters are what they write, shift included', () => {
    expect(keyMatches('G', pressed('G', { shiftKey: true }), false)).toBe(true);
    expect(keyMatches('g', pressed('G', { shiftKey: true }), false)).toBe(false);
    expect(keyMatches('j', pressed('j', { ctrlKey: true }), false)).toBe(false);
    expect(keyMatches('f6', pressed('F6', { shiftKey: true }), false)).toBe(false);
    expect(keyMatches('shift+f6', pressed('F6', { shiftKey: true }), false)).toBe(true);
  });

  it('the palette finds letters in their order', () => {
    expect(fuzzyMatches('thd', 'App Theme: dark')).toBe(true);
    expect(fuzzyMatches('dark theme', 'App Theme: dark')).toBe(false);
  });
});
