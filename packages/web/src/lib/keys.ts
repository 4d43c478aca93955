import { t } from './language/text.ts';
const SIGNS: Readonly<Record<string, string>> = {
  enter: '⏎',
  backspace: '⌫',
  shift: '⇧',
  escape: 'Esc',
  up: '↑',
  down: '↓',
  left: '←',
  right: '→',
};

const isApple = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform);

/** `mod+enter` as this machine writes it: `⌘⏎`, or `Ctrl ⏎` on other machines. */
export function keyText(keys: string, apple = isApple): string {
  const parts = keys.split('+').map((part) => {
    if (part === 'mod') return apple ? '⌘' : 'Ctrl';
    if (part === 'ctrl') return apple ? '⌃' : 'Ctrl';
    // A letter alone is written as it is typed; with another key, as it stands on the keyboard.
    if (part === 'space') return t('Space');
    return SIGNS[part] ?? (keys === part && part.length === 1 ? part : part.length <= 2 ? part.toUpperCase() : part);
  });
  return parts.join(apple ? '' : ' ');
}

type Pressed = Pick<KeyboardEvent, 'key' | 'metaKey' | 'ctrlKey' | 'shiftKey' | 'altKey'>;

/** Whether `pressed` is `keys`, e.g. `mod+enter`, `ctrl+c`, `G`. Shift is part of the letter, so `?` and `G` are written as they are. */
export function keyMatches(keys: string, pressed: Pressed, apple = isApple): boolean {
  const parts = keys.split('+');
  const key = parts.at(-1)!;
  const wantsMod = parts.includes('mod');
  const wantsCtrl = parts.includes('ctrl') || (wantsMod && !apple);
  const wantsMeta = wantsMod && apple;
  if (pressed.ctrlKey !== wantsCtrl || pressed.metaKey !== wantsMeta || pressed.altKey) return false;
  if (parts.includes('shift') && !pressed.shiftKey) return false;
  if (key.length > 1) return pressed.key.toLowerCase() === NAMES[key] && (parts.includes('shift') || !pressed.shiftKey);
  return wantsMod || wantsCtrl ? pressed.key.toLowerCase() === key.toLowerCase() : pressed.key === key;
}

const NAMES: Readonly<Record<string, string>> = {
  enter: 'enter',
  backspace: 'backspace',
  escape: 'escape',
  space: ' ',
  up: 'arrowup',
  down: 'arrowdown',
  left: 'arrowleft',
  right: 'arrowright',
  f6: 'f6',
};
