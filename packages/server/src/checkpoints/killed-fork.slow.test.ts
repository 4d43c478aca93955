import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runs } from '@tendon/testing';
import { builtFaults } from '@tendon/testing/servers';
import { expect, it } from 'vitest';
import { socketIoClient, temporaryFolder, testServer } from '../server.test-support.ts';

const bash = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });
const SCRIPT = [bash('echo one > a.txt'), bash('echo two > a.txt'), { text: 'done' }];
const run = promisify(execFile);

/** Of the points where it may die. */
const EVERY = runs(1, 7);

interface Killed {
  readonly signal: string | null;
  readonly stdout: string;
}

async function forkKilledAt(home: string, id: string, event: number, point: number): Promise<Killed> {
  const args = [builtFaults('killed-fork'), home, id, String(event), String(point)];
  return run(process.execPath, args).then(
    ({ stdout }) => ({ signal: null, stdout }),
    ({ signal, stdout, stderr }: Killed & { readonly stderr: string }) => {
      expect(signal, stderr).toBe('SIGKILL');
      return { signal, stdout };
    },
  );
}

it('CK805: a fork that is killed at any point is a whole one or none', { timeout: 600_000 }, async () => {
  const home = temporaryFolder();
  const first = await testServer({ home, script: SCRIPT });
  const id = await first.create();
  await (await socketIoClient(first, { conversation_id: id })).ask('go');
  const log = async (url: string, of: string): Promise<readonly { readonly id: number; readonly action?: string }[]> =>
    (
      (await (await fetch(`${url}/api/conversations/${of}/events/search?limit=100`)).json()) as {
        events: { id: number; action?: string }[];
      }
    ).events;
  const events = await log(first.url, id);
  const event = events.findLast(({ action }) => action === 'run')!.id - 1;
  await first.close();
  const known = new Set([id]);
  const outcomes: ('none' | 'whole')[] = [];
  for (let killed: Killed = { signal: 'SIGKILL', stdout: '' }; killed.signal !== null;) {
    killed = await forkKilledAt(home, id, event, EVERY * outcomes.length);
    const server = await testServer({ home, script: SCRIPT });
    const { results } = (await (await server.get('/api/conversations?limit=100')).json()) as { results: { conversation_id: string }[] };
    const added = results.map(({ conversation_id: each }) => each).filter((each) => !known.has(each));
    expect(added.length).toBeLessThanOrEqual(1);
    // What it left is erased beside the start of the server.
    await expect
      .poll(() => readdirSync(join(home, 'workspaces')).filter((name) => !results.some((each) => each.conversation_id === name)), {
        timeout: 60_000,
      })
      .toEqual([]);
    for (const fork of added) {
      known.add(fork);
      expect((await log(server.url, fork)).slice(0, event + 1)).toEqual(events.slice(0, event + 1));
      expect(readFileSync(join(home, 'workspaces', fork, 'a.txt'), 'utf8')).toBe('one\n');
    }
    outcomes.push(added.length === 1 ? 'whole' : 'none');
    await server.close();
  }
  expect(EVERY * outcomes.length).toBeGreaterThan(12);
  expect([outcomes[0], outcomes.at(-1)]).toEqual(['none', 'whole']);
});
