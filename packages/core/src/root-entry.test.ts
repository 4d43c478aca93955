import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const IMPORT = /^(?:import|export)\s(?!type\s)(?:[^'"]*?\sfrom\s)?'([^']+)'/gm;

/** Every module that importing the file loads, and the builtins among them. */
function builtinsBehind(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  return [...readFileSync(file, 'utf8').matchAll(IMPORT)].flatMap(([, specifier]) => {
    if (isBuiltin(specifier!)) return [`${specifier} in ${file}`];
    return specifier!.startsWith('.') ? builtinsBehind(join(dirname(file), specifier!), seen) : [];
  });
}

it('the root entry of core needs no Node builtin; storage has its own entry', () => {
  expect(builtinsBehind(join(import.meta.dirname, 'index.ts'))).toEqual([]);
  expect(builtinsBehind(join(import.meta.dirname, 'storage/index.ts'))).toContainEqual(expect.stringContaining('node:sqlite'));
});
