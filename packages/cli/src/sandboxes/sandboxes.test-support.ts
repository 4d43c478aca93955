/** What the tests of `tendon sandboxes` share: a server with conversations, and a count of what is left of them on this machine. */
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startTendon, tendon, type Place, type TendonChild, type TendonOptions } from '../tendon-child.test-support.ts';

export interface Listed {
  readonly conversation_id: string;
  readonly incarnation: string;
  readonly state: string;
  readonly processes: number;
  readonly memory_bytes: number;
  readonly disk_bytes: number;
  readonly driver: string;
}

/** The server as a process, with a model that plays these steps in every conversation. */
export async function serve(
  place: Place,
  steps: readonly object[],
  options?: TendonOptions,
): Promise<{ readonly server: TendonChild; readonly url: string }> {
  const server = startTendon(place, ['serve', '--port', '0', '-m', place.script(steps)], options);
  await server.until('workspace');
  return { server, url: /http:\/\/\S+/.exec(server.stdout)?.[0] ?? '' };
}

/** A conversation that has come to its end; its id. */
export async function converse(url: string): Promise<string> {
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"initial_user_msg":"go"}' };
  const { conversation_id: id } = (await (await fetch(`${url}/api/conversations`, request)).json()) as { conversation_id: string };
  const happened = async (): Promise<string> => (await fetch(`${url}/api/conversations/${id}/events?limit=100`)).text();
  await expect.poll(happened, { timeout: 60_000, interval: 200 }).toContain('"action":"finish"');
  return id;
}

export async function listed(place: Place, options?: TendonOptions): Promise<readonly Listed[]> {
  const { code, stdout, stderr } = await tendon(place, ['sandboxes', '--json'], options);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return (JSON.parse(stdout) as { sandboxes: Listed[] }).sandboxes;
}

/** Everything on this machine that names one of these texts. */
export function tracesOf(texts: readonly string[]): string[] {
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
    ...foldersBelow('/sys/fs/cgroup').filter(names),
    ...['/run', '/tmp', tmpdir()].flatMap((folder) =>
      below(folder)
        .filter((path) => path.includes('tendon-'))
        .flatMap(below)
        .filter(names),
    ),
  ];
}

/** However deep. Others may be made and removed meanwhile. */
function foldersBelow(folder: string): string[] {
  try {
    const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return folders.flatMap(({ name }) => [join(folder, name), ...foldersBelow(join(folder, name))]);
  } catch {
    return []; // gone
  }
}
