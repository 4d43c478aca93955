import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { ObservationDraft } from '@tendon/protocol';
import { Journal } from './journal.ts';

const folder = mkdtempSync(join(tmpdir(), 'tendon-journal-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const outcome = (content: string): ObservationDraft => ({ observation: 'null', content, extras: {} });

describe('journal', () => {
  it('RT8: stays bounded; keys are retained for good, outcomes only the newest', () => {
    const limits = { retainedBytes: 20_000, maxBytes: 50_000 };
    const journal = new Journal(folder, 'one', limits);
    journal.started('never ended', 'digest');
    for (let index = 0; index < 500; index += 1) {
      journal.started(`key ${index}`, `digest ${index}`);
      journal.done(`key ${index}`, outcome(`${index} ${'x'.repeat(500)}`));
    }
    expect(journal.find('key 0')?.state).toBe('done');
    expect(journal.find('key 0')?.outcome()).toBeUndefined();
    expect(journal.find('key 499')?.outcome()).toMatchObject({ content: expect.stringContaining('499 x') });
    journal.close();
    expect(statSync(join(folder, 'journal.ndjson')).size).toBeLessThan(120_000);

    const again = new Journal(folder, 'two', limits);
    expect(again.find('never ended')).toMatchObject({ state: 'started', incarnation: 'one', digest: 'digest' });
    expect(again.find('key 0')).toMatchObject({ state: 'done', digest: 'digest 0' });
    expect(again.find('key 480')?.digest).toBe('digest 480');
    expect(again.find('key 480')?.outcome()).toMatchObject({ content: expect.stringContaining('480 x') });
    expect(again.find('key 500')).toBeUndefined();
    again.close();
  });
});
