import type { Runtime, Runtimes } from '@tendon/core';
import { never, run, until } from '@tendon/runtime/testing';

const ROUNDS = 25;

/** Reads and writes, as the server does for a client, where a probe swaps files and links; answers what it should not have got. */
export async function raceTheServer({ files }: Runtime, word: string): Promise<string> {
  const read = async (path: string): Promise<string> => {
    const bytes = await files.read(path, { signal: never, maxBytes: 10_000 }).catch(() => new Uint8Array());
    return new TextDecoder().decode(bytes);
  };
  const got: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    got.push(await read('raced/read'), await read('folder-link/secret'));
    await files.write('raced/write', new TextEncoder().encode('overwritten'), { signal: never }).catch(() => undefined);
    got.push(...(await files.list('folder-link', { signal: never }).catch(() => [])));
  }
  await files.write('raced-enough', new Uint8Array(), { signal: never });
  return got.some((text) => text.includes(word) || text === 'tendon.db') ? 'ESCAPED by the server\n' : '';
}

/** Starts, so many times, the sandbox of a conversation whose folder a probe swaps for a link; answers what it should not have got. */
export async function raceTheStart(runtimes: Runtimes, starts: number): Promise<string> {
  const hostile = runtimes.current('hostile');
  if (hostile === undefined) throw new Error('nobody swaps anything');
  await until('the first swap', async () => (await hostile.files.list('.', { signal: never })).includes('swapped-began'));
  const got: string[] = [];
  for (let start = 0; start < starts; start++) {
    const names = await runtimes.acquire('swapped', { signal: never }).then(
      (runtime) => runtime.files.list('.', { signal: never }),
      () => [],
    );
    got.push(...names);
    await runtimes.stop('swapped');
  }
  await hostile.files.write('swapped-enough', new Uint8Array(), { signal: never });
  return got.includes('tendon.db') ? 'ESCAPED by the next sandbox\n' : '';
}

const MAX_BYTES = 1000;

/** Reads, lists and writes what was planted to hold the server; each must answer, however it does. */
export async function openPlanted({ files }: Runtime): Promise<string> {
  const named = (name: string) => async (): Promise<boolean> => (await files.list('.', { signal: never })).includes(name);
  await until('everything planted', named('planted-all'));
  const names = (await files.list('planted', { signal: never })).map((name) => `planted/${name}`);
  for (const path of [...names, 'planted/ring/ring/ring/ring/pipe']) {
    await files.read(path, { signal: never, maxBytes: MAX_BYTES }).catch(() => undefined);
    await files.list(path, { signal: never }).catch(() => undefined);
  }
  for (const name of ['pipe', 'pipe-link', 'socket', 'zero', 'itself']) {
    await files.write(`planted/${name}`, new Uint8Array(1), { signal: never }).catch(() => undefined);
  }
  await files.write('planted-enough', new Uint8Array(), { signal: never });
  return names.length > 10 ? '' : `ESCAPED the list: ${names.join()}\n`;
}

/** Asks the sandbox beside it for some of everything, while a probe holds what it could take. */
export async function askTheNeighbour(runtimes: Runtimes): Promise<string> {
  const [hostile, other] = ['hostile', 'other'].map((id) => runtimes.current(id));
  if (hostile === undefined || other === undefined) throw new Error('nobody takes anything from anybody');
  await until('all of it taken', async () => (await hostile.files.list('.', { signal: never })).includes('taken'));
  const { output } = await run(other, 'python3 works.py && echo the end');
  await hostile.files.write('let-go', new Uint8Array(), { signal: never });
  return output.endsWith('the end') ? `${output.replace(/the end$/, '')}` : `ESCAPED the neighbour: ${output}\n`;
}
