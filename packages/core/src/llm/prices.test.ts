import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { costOf, findModel, listModels } from './prices.ts';

describe('the price table', () => {
  it('LM42: is what the generator writes; one that was edited is stale', async () => {
    const script = fileURLToPath(new URL('../../../../scripts/generate-prices.mjs', import.meta.url));
    const check = (...file: string[]) => promisify(execFile)(process.execPath, [script, '--check', ...file]);
    await expect(check()).resolves.toBeDefined();
    const folder = mkdtempSync(join(tmpdir(), 'tendon-prices-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const edited = join(folder, 'price-table.ts');
    writeFileSync(edited, readFileSync(new URL('price-table.ts', import.meta.url), 'utf8').replace('\t2.5\t', '\t2.4\t'));
    await expect(check(edited)).rejects.toThrow('is stale');
  });

  it.each(['gpt-4o', 'openai/gpt-4o', 'openhands/gpt-4o', 'litellm_proxy/openai/gpt-4o'])('LM40: %s is found', (name) => {
    expect(findModel(name)).toMatchObject({ name: 'openai/gpt-4o', contextWindow: 128_000, prices: { input: 2.5 }, vision: true });
  });

  it.each(['nobody/knows', '', 'openhands/', '__proto__', 'demo'])('LM6: %j is unknown', (name) => {
    expect(findModel(name)).toBeUndefined();
  });

  it('LM6: cached tokens have their own price', () => {
    const facts = findModel('anthropic/claude-sonnet-4-20250514')!;
    const usage = { inputTokens: 3_000_000, outputTokens: 0, cacheReadTokens: 1_000_000, cacheWriteTokens: 1_000_000 };
    expect(costOf(facts, usage)).toBeCloseTo(3 + 0.3 + 3.75, 9);
  });
});

describe('the list of models', () => {
  it('LM43: is sorted, without doubles, and holds what the frontends start with', () => {
    const names = listModels();
    expect(names).toEqual([...new Set(names)].toSorted());
    for (const name of [
      'openhands/claude-sonnet-4-20250514',
      'anthropic/claude-sonnet-4-20250514',
      'anthropic/claude-3-5-sonnet-20241022',
      'gpt-4o',
    ]) {
      expect(names).toContain(name);
    }
  });
});
