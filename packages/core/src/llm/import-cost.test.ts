import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const PROGRAM = `
  import { registerHooks } from 'node:module';
  const seen = [];
  registerHooks({ resolve: (specifier, context, next) => (seen.push(specifier), next(specifier, context)) });
  const { createLlmProvider, Secret } = await import('@tendon/core/llm');
  createLlmProvider({ model: 'gpt-4o', apiKey: { reveal: () => 'x' }, clock: {} });
  console.log(JSON.stringify(seen));
`;

it('LM7: importing the models and making one loads no provider package', async () => {
  const args = ['--conditions=tendon-source', '--input-type=module', '-e', PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
  const seen = JSON.parse(stdout) as string[];
  expect(seen).toContain('./create-llm-provider.ts');
  expect(seen.filter((specifier) => specifier.startsWith('@ai-sdk/'))).toEqual([]);
});
