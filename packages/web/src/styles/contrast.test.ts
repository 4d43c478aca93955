import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Reads the tokens out of the stylesheet itself, so that the table cannot drift from what is painted. */
const css = readFileSync(join(import.meta.dirname, 'tokens.css'), 'utf8');
const light = tokensIn(css.slice(css.indexOf('@theme'), css.indexOf('@theme static')));
const dark = { ...light, ...tokensIn(css.slice(css.indexOf("[data-theme='dark']"))) };

type Colour = readonly [lightness: number, chroma: number, hue: number];

function tokensIn(text: string): Readonly<Record<string, Colour>> {
  const found = text.matchAll(/--color-([\w-]+):\s*oklch\(([\d.]+) ([\d.]+) ([\d.]+)\)/g);
  return Object.fromEntries([...found].map(([, name, l, c, h]) => [name!, [Number(l), Number(c), Number(h)] as const]));
}

/** OKLCH to linear sRGB (Ottosson), then relative luminance (WCAG 2). */
function linear([lightness, chroma, hue]: Colour): readonly [number, number, number] {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

function luminance(colour: Colour): number {
  const [r, g, b] = linear(colour).map((value) => Math.min(1, Math.max(0, value))) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: Colour, b: Colour): number {
  const [high, low] = [luminance(a), luminance(b)].toSorted((x, y) => y - x) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

const SURFACES = ['bg', 'surface', 'raised', 'sunken', 'hover', 'active'];
const WASHES = ['accent-wash', 'ok-wash', 'wait-wash', 'bad-wash'];
const SYNTAX = ['syn-key', 'syn-str', 'syn-num', 'syn-fn', 'syn-type', 'syn-com'];

/** Foreground, backgrounds, least contrast: the pairs that components may use. */
const PAIRS: readonly (readonly [string, readonly string[], number])[] = [
  ...['ink', 'ink-2', 'ink-3', 'accent-ink', 'ok', 'wait', 'bad'].map((name) => [name, SURFACES, 4.5] as const),
  ['ink-3', WASHES, 4.5],
  ['on-accent', ['accent', 'accent-hover'], 4.5],
  ['ok', ['ok-wash'], 4.5],
  ['wait', ['wait-wash'], 4.5],
  ['bad', ['bad-wash'], 4.5],
  ['accent-ink', ['accent-wash'], 4.5],
  ['ink', ['mark-add', 'mark-del'], 4.5],
  ...SYNTAX.map((name) => [name, ['surface', 'sunken', 'ok-wash', 'bad-wash', 'mark-add', 'mark-del'], 4.5] as const),
  ['line-control', ['surface', 'raised'], 3],
  ['accent', ['bg', 'surface', 'raised'], 3],
];

/** Figures of the design's table: name, background, light, dark. */
const TABLE = [
  ['ink', 'surface', 16.0, 14.4],
  ['ink-2', 'surface', 8.3, 8.4],
  ['ink-3', 'surface', 5.8, 6.0],
  ['accent-ink', 'surface', 7.1, 9.7],
  ['ok', 'surface', 6.7, 9.6],
  ['wait', 'surface', 6.3, 10.2],
  ['bad', 'surface', 6.5, 7.6],
  ['on-accent', 'accent', 6.1, 8.4],
  ['on-accent', 'accent-hover', 7.5, 10.0],
  ['line-control', 'surface', 3.2, 3.5],
  ['line-control', 'raised', 3.3, 3.2],
  ['accent', 'bg', 5.6, 8.5],
] as const;

describe.each([
  ['light', light],
  ['dark', dark],
] as const)('tokens, %s', (theme, tokens) => {
  it.each(PAIRS)('CL27: %s on %s has at least %d', (name, backgrounds, least) => {
    for (const background of backgrounds) {
      expect(contrast(tokens[name]!, tokens[background]!), `${name} on ${background}`).toBeGreaterThanOrEqual(least);
    }
  });

  it.each(TABLE)('CL27: %s on %s is what the design says', (name, background, inLight, inDark) => {
    expect(contrast(tokens[name]!, tokens[background]!)).toBeCloseTo(theme === 'light' ? inLight : inDark, 1);
  });

  it('CL27: every colour is inside sRGB', () => {
    for (const [name, colour] of Object.entries(tokens)) {
      for (const channel of linear(colour)) {
        expect(channel, name).toBeGreaterThan(-0.005);
        expect(channel, name).toBeLessThan(1.005);
      }
    }
  });
});
