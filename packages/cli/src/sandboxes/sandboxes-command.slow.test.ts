import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makePlace, startTendon, tendon, type Place, type TendonChild } from '../tendon-child.test-support.ts';

interface Listed {
  readonly conversation_id: string;
  readonly incarnation: string;
  readonly state: string;
  readonly processes: number;
  readonly memory_bytes: number;
  readonly disk_bytes: number;
}

const call = (name: string, args: object) => ({ toolCalls: [{ name, arguments: args }] });
/** A job in the background, an orphan, a kernel, and files in temporary folders. */
const SCRIPT = [
  call('execute_bash', { command: 'nohup sleep 1000 >/dev/null 2>&1 & setsid sleep 1000 & echo x > /tmp/file; export MARK=1' }),
  call('execute_ipython_cell', { code: 'import threading; 6 * 7' }),
  call('finish', { message: 'done' }),
];

async function serve(place: Place): Promise<{ readonly server: TendonChild; readonly url: string }> {
  const server = startTendon(place, ['serve', '--port', '0', '-m', place.script(SCRIPT)]);
  await server.until('workspace');
  return { server, url: /http:\/\/\S+/.exec(server.stdout)?.[0] ?? '' };
}

async function converse(url: string): Promise<string> {
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"initial_user_msg":"go"}' };
  const { conversation_id: id } = (await (await fetch(`${url}/api/conversations`, request)).json()) as { conversation_id: string };
  const happened = async (): Promise<string> => (await fetch(`${url}/api/conversations/${id}/events?limit=100`)).text();
  await expect.poll(happened, { timeout: 60_000, interval: 200 }).toContain('"action":"finish"');
  return id;
}

async function list(place: Place): Promise<readonly Listed[]> {
  const { code, stdout, stderr } = await tendon(place, ['sandboxes', '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return (JSON.parse(stdout) as { sandboxes: Listed[] }).sandboxes;
}

/** Everything on this machine that names one of these texts. */
function tracesOf(texts: readonly string[]): string[] {
  const names = (text: string): boolean => texts.some((each) => text.includes(each));
  const read = (path: string): string => {
    try {
      return readFileSync(path, 'latin1');
    } catch {
      return ''; // gone
    }
  };
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  const below = (folder: string): string[] => {
    try {
      return readdirSync(folder).map((name) => join(folder, name));
    } catch {
      return []; // gone, or a file
    }
  };
  return [
    ...processes.filter((pid) => names(read(`/proc/${pid}/cmdline`)) || names(read(`/proc/${pid}/environ`))).map((pid) => `process ${pid}`),
    ...processes.filter((pid) => names(read(`/proc/${pid}/cgroup`))).map((pid) => `in a group: ${pid}`),
    ...read('/proc/self/mountinfo').split('\n').filter(names),
    ...read('/proc/net/unix').split('\n').filter(names),
    ...readdirSync('/sys/fs/cgroup', { recursive: true }).map(String).filter(names),
    ...['/run', '/tmp', tmpdir()].flatMap((folder) =>
      below(folder)
        .filter((path) => path.includes('tendon-'))
        .flatMap(below)
        .filter(names),
    ),
  ];
}

it('SB96: after a kill -9 of the server, reclaim --all leaves nothing of its sandboxes on the machine', async () => {
  const place = makePlace();
  const { server, url } = await serve(place);
  const ids = [await converse(url), await converse(url), await converse(url)];
  const listed = await list(place);
  expect(listed.map(({ conversation_id }) => conversation_id).toSorted()).toEqual(ids.toSorted());
  for (const one of listed) {
    expect(one.state).toBe('awake');
    expect(one.processes).toBeGreaterThan(4);
    expect(one.memory_bytes).toBeGreaterThan(10 * 1024 ** 2);
    expect(one.disk_bytes).toBeGreaterThan(0);
  }
  const incarnations = listed.map(({ incarnation }) => incarnation);
  server.signal('SIGKILL');
  await server.ended;
  expect(tracesOf(incarnations)).not.toEqual([]);
  const plain = await tendon(place, ['sandboxes', 'reclaim']);
  expect(plain).toMatchObject({ code: 0, stdout: '0 removed, 3 kept.\n' });

  const all = await tendon(place, ['sandboxes', 'reclaim', '--all']);
  expect(all).toMatchObject({ code: 0, stdout: '3 removed, 0 kept.\n', stderr: '' });
  expect(tracesOf([...incarnations, join(place.home, '.tendon/sandboxes')])).toEqual([]);
  expect(existsSync(join(place.home, '.tendon/sandboxes'))).toBe(false);
  expect(await list(place)).toEqual([]);
  expect(existsSync(join(place.home, '.tendon/tendon.db'))).toBe(true);
}, 240_000);

it('SB97: through a running server: the table, a stop, and a reclaim that spares what is in use', async () => {
  const place = makePlace();
  const { server, url } = await serve(place);
  const id = await converse(url);
  const table = await tendon(place, ['sandboxes']);
  expect(table.stdout).toMatch(new RegExp(`^CONVERSATION.*\\n${id}  go.*  local +awake  os-sandbox`));
  expect(await tendon(place, ['sandboxes', 'reclaim', '--all', '--json'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"kept": 1'),
  });
  expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/^tendon_sandboxes_awake 1$/m);
  expect(await tendon(place, ['sandboxes', 'stop', id])).toMatchObject({ code: 0, stdout: `The sandbox of ${id} has ended.\n` });
  expect(await list(place)).toEqual([]);
  expect(await tendon(place, ['sandboxes', 'stop', 'nobody'])).toMatchObject({ code: 1, stderr: expect.stringContaining('nobody') });
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
  expect(await tendon(place, ['sandboxes'])).toMatchObject({ code: 0, stdout: 'There are no sandboxes.\n' });
  expect((await tendon(place, ['sandboxes', 'nonsense'])).code).toBe(2);
}, 240_000);
