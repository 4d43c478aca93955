import type { ITheme } from '@xterm/xterm';

/** The tokens for a terminal, which knows only red, green and blue. */
const TOKENS = {
  ...{ background: 'surface', foreground: 'ink', cursor: 'ink', cursorAccent: 'surface', selectionBackground: 'active' },
  ...{ black: 'ink-3', red: 'bad', green: 'ok', yellow: 'wait', blue: 'syn-fn', magenta: 'syn-key', cyan: 'accent-ink', white: 'ink' },
  ...{ brightBlack: 'ink-3', brightRed: 'bad', brightGreen: 'ok', brightYellow: 'wait', brightBlue: 'syn-fn' },
  ...{ brightMagenta: 'syn-key', brightCyan: 'accent-ink', brightWhite: 'ink' },
} as const satisfies Partial<Record<keyof ITheme, string>>;

export function terminalTheme(): ITheme {
  const style = getComputedStyle(document.documentElement);
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!;
  const painted = (token: string): string => {
    canvas.fillStyle = style.getPropertyValue(`--color-${token}`);
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data;
    return `#${[red, green, blue].map((part) => part!.toString(16).padStart(2, '0')).join('')}`;
  };
  return Object.fromEntries(Object.entries(TOKENS).map(([name, token]) => [name, painted(token)]));
}
