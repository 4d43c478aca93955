/**
 * A real server process is given each hostile input and goes on answering others. How much of its thread an input took is read from the
 * kernel's account of that thread, which no busy machine makes longer. How soon `/alive` is answered meanwhile: test/long/alive.test.ts.
 */
import { readFileSync } from 'node:fs';
import { itInFull } from '@tendon/testing';
import type { TendonProcess } from '@tendon/testing/servers';
import { expect, it } from 'vitest';
import { endlessSchema, fillMicroagents, longNames, manyCalls, microagents, SLOW_RULES, wrongAnswers } from './hostile-inputs.ts';

/** What the server's own thread has computed since it started, in hundredths of a second of the processor. */
function computed({ pid }: TendonProcess): number {
  const fields = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

async function isAlive(tendon: TendonProcess): Promise<boolean> {
  return (await fetch(`${tendon.url}/alive`, { signal: AbortSignal.timeout(60_000) })).ok;
}

it('SV310: a schema of an MCP server is never run in the server: the model gets its result unchanged', async () => {
  const { tendon, work, result } = await endlessSchema();
  await work();
  expect(await result).toMatchObject({ observation: 'mcp', content: 'read it' });
  expect(await isAlive(tendon)).toBe(true);
});

it('SV315: what is wrong in an answer of an MCP server is left out, and is not named place by place', async () => {
  const { tendon, work, result } = await wrongAnswers();
  const before = computed(tendon);
  await work();
  // The faults of the result alone, in words, would be 351 million characters.
  expect(await result).toMatchObject({ observation: 'mcp', content: 'read it' });
  expect(computed(tendon) - before).toBeLessThan(200);
  expect(await isAlive(tendon)).toBe(true);
});

itInFull('EN310: an answer with five thousand calls costs the log one event, and the agent goes on', async () => {
  const { tendon, work, events } = await manyCalls(5_000);
  await work();
  expect(events.filter(({ action }) => action === 'think')).toEqual([]);
  expect(events.filter(({ observation }) => observation === 'error')).toMatchObject([
    { content: expect.stringContaining('5000 calls') as string },
  ]);
  expect(await isAlive(tendon)).toBe(true);
});

it('SV311: a .gitignore made to be slow costs the server no more than any other', async () => {
  const { tendon, put, work } = await longNames();
  const cost = async (rules: string): Promise<number> => {
    put('.gitignore', rules);
    const before = computed(tendon);
    await work();
    return computed(tendon) - before;
  };
  await cost('build/\n');
  const plain = await cost('build/\n');
  // Matched in the server it is more than a hundred times as much.
  expect(await cost(SLOW_RULES)).toBeLessThan(10 * plain + 100);
  expect(await isAlive(tendon)).toBe(true);
});

itInFull('EN311: microagents whose front matter is made to be slow cost the server little', async () => {
  const input = await microagents('type: repo');
  const cost = async (front: string): Promise<number> => {
    fillMicroagents(input, front);
    const before = computed(input.tendon);
    await input.work();
    return computed(input.tendon) - before;
  };
  await cost('type: repo');
  const plain = await cost('type: repo');
  expect(await cost('['.repeat(16_000))).toBeLessThan(5 * plain + 100);
  expect(await isAlive(input.tendon)).toBe(true);
});
