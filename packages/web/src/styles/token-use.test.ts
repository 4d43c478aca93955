import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (name) => /\.(tsx|css)$/.test(name) && !name.endsWith('.test.tsx'),
);
const components = files.filter((name) => name.endsWith('.tsx'));
const stylesheets = files.filter((name) => name.endsWith('.css') && !name.endsWith('tokens.css'));
/** `--split` is set by the splitter. */
const tokens = new Set([
  '--split',
  ...[...readFileSync(join(root, 'styles/tokens.css'), 'utf8').matchAll(/(--[\w-]+):/g)].map((match) => match[1]!),
]);

const RAW_COLOUR = /#[0-9a-f]{3,8}\b|\b(?:rgb|rgba|hsl|hsla|oklch|lab|lch)\(/i;

function read(name: string): string {
  return readFileSync(join(root, name), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
}

describe('tokens', () => {
  it.each(components)('CL28: %s names tokens only', (name) => {
    const classes = [...read(name).matchAll(/className=(?:"([^"]*)"|\{([^}]*)\})/g)].map((match) => match[1] ?? match[2] ?? '').join(' ');
    expect(classes).not.toMatch(/\bdark:/);
    expect(classes).not.toMatch(/-\[[^\]]+\]/);
    expect(read(name).replaceAll(/`[^`]*`/g, '')).not.toMatch(RAW_COLOUR);
  });

  it.each(stylesheets)('CL28: %s names tokens that exist', (name) => {
    expect(read(name)).not.toMatch(RAW_COLOUR);
    for (const [, token] of read(name).matchAll(/var\((--[\w-]+)/g)) expect(tokens, `${token} in ${name}`).toContain(token);
  });

  it.each(stylesheets)('%s has no z-index outside of the layers', (name) => {
    for (const [, layer] of read(name).matchAll(/z-index:\s*(-?\d+)/g)) {
      expect([0, 1, 2, 5, 10, 20, 30, 40, 50], name).toContain(Number(layer));
    }
  });
});
