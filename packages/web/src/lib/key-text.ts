const SIGNS: Readonly<Record<string, string>> = {
  enter: '⏎',
  backspace: '⌫',
  shift: '⇧',
  escape: 'Esc',
  space: 'Space',
};

export const isApple = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform);

/** `mod+enter` as this machine writes it: `⌘⏎`, or `Ctrl ⏎` elsewhere. */
export function keyText(keys: string, apple = isApple): string {
  const parts = keys.split('+').map((part) => {
    if (part === 'mod') return apple ? '⌘' : 'Ctrl';
    if (part === 'ctrl') return apple ? '⌃' : 'Ctrl';
    // A letter alone is written as it is typed; with another key, as it stands on the keyboard.
    return SIGNS[part] ?? (keys === part && part.length === 1 ? part : part.length <= 2 ? part.toUpperCase() : part);
  });
  return parts.join(apple ? '' : ' ');
}
