import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createMemoryStorage } from '../storage/index.ts';
import { createTestClock } from './contract/test-clock.ts';
import { ModelTraitsBook } from './model-traits.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const DAY_MS = 86_400_000;
const PLACE = { baseUrl: 'https://key:hidden@models.example/v1', modelId: 'one' };

function store() {
  const clock = createTestClock();
  const { records } = createMemoryStorage({ clock });
  const problems: unknown[] = [];
  const open = () => ModelTraitsBook.open({ records, clock, digest, onProblem: (cause) => void problems.push(cause) });
  return { clock, records, problems, open };
}

describe('what endpoints have shown', () => {
  it('LM805: outlives the server, and what was learned later counts', async () => {
    const { open } = store();
    const first = await open();
    first.of(PLACE).learn({ tools: true, contextWindow: 8_192 });
    first.of(PLACE).learn({ tools: false });
    first.of({ ...PLACE, modelId: 'two' }).learn({ images: false });
    await first.close();
    const second = await open();
    expect(second.of(PLACE).known).toEqual({ tools: false, contextWindow: 8_192 });
    expect(second.of({ ...PLACE, modelId: 'two' }).known).toEqual({ images: false });
    expect(second.of({ ...PLACE, baseUrl: 'https://other.example/v1' }).known).toEqual({});
  });

  it('LM805: is forgotten after a week', async () => {
    const { open, clock, records } = store();
    const first = await open();
    first.of(PLACE).learn({ tools: false });
    await first.close();
    clock.advance(6 * DAY_MS);
    expect((await open()).of(PLACE).known).toEqual({ tools: false });
    clock.advance(2 * DAY_MS);
    const later = await open();
    expect(later.of(PLACE).known).toEqual({});
    await later.close();
    expect(await records.list('model-traits')).toEqual([]);
  });

  it('LM805: is stored without the address, and once', async () => {
    const { records, clock } = store();
    let puts = 0;
    const put: Records['put'] = (...given) => {
      puts++;
      return records.put(...given);
    };
    const book = await ModelTraitsBook.open({ records: { ...bound(records), put }, clock, digest, onProblem: () => undefined });
    for (let answer = 0; answer < 5; answer++) book.of(PLACE).learn({ tools: true });
    await book.close();
    expect(puts).toBe(1);
    expect(JSON.stringify(await records.list('model-traits'))).not.toContain('example');
  });

  it('LM805: that cannot be stored is still used, and reported', async () => {
    const { records, clock, problems } = store();
    const put = () => Promise.reject(new Error('the disk is full'));
    const book = await ModelTraitsBook.open({
      records: { ...bound(records), put },
      clock,
      digest,
      onProblem: (cause) => void problems.push(cause),
    });
    book.of(PLACE).learn({ tools: false });
    await book.close();
    expect(book.of(PLACE).known).toEqual({ tools: false });
    expect(problems).toMatchObject([{ message: 'the disk is full' }]);
  });
});

type Records = ReturnType<typeof store>['records'];

function bound(records: Records): Records {
  return {
    get: (...given) => records.get(...given),
    put: (...given) => records.put(...given),
    delete: (...given) => records.delete(...given),
    list: (...given) => records.list(...given),
    update: (...given) => records.update(...given),
    rename: (...given) => records.rename(...given),
    watch: (...given) => records.watch(...given),
  };
}
