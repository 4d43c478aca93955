import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { socketIoClient, temporaryFolder, testServer } from '../server.test-support.ts';

const run = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });
const finish = { toolCalls: [{ name: 'finish', arguments: { message: 'Done.' } }] };

/** It remembers each of its calls, and refuses what would push. */
const GUARD = `#!/bin/sh
input=$(cat)
echo "$input" >> calls.ndjson
case "$input" in *push*) echo "Nothing leaves this machine." >&2; exit 2;; esac
`;
const ONCE = 'test -e asked || { touch asked; echo "look at the result first" >&2; exit 2; }';

it('EX901, EX904, EX905: hooks of the home are asked by every conversation of the server', async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, 'hooks'));
  writeFileSync(join(home, 'hooks/guard.sh'), GUARD);
  chmodSync(join(home, 'hooks/guard.sh'), 0o755);
  const hooks = {
    session_start: [{ name: 'facts', command: `echo '{"context": "The release is on friday."}'` }],
    before_action: [{ name: 'guard', match: 'run', command: './hooks/guard.sh' }],
    stop: [{ name: 'look', command: ONCE }],
  };
  writeFileSync(join(home, 'hooks.json'), JSON.stringify({ hooks }));
  const folder = temporaryFolder();
  const script = [run('touch fine'), run('touch push'), finish, finish];
  const server = await testServer({ home, env: { WORKSPACE_BASE: folder }, script });
  const id = await server.create({});
  const { frames, send } = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
  await frames.untilState('awaiting_user_input');
  send({ action: 'message', args: { content: 'go' } });
  await frames.untilState('finished');
  const text = JSON.stringify(frames.all);
  for (const words of ['The release is on friday.', 'the hook “guard” blocks it: Nothing leaves this machine', 'look at the result first'])
    expect(text).toContain(words);
  expect([existsSync(join(folder, 'fine')), existsSync(join(folder, 'push'))]).toEqual([true, false]);
  const calls = readFileSync(join(home, 'calls.ndjson'), 'utf8').trim().split('\n');
  expect(calls.map((call) => JSON.parse(call) as object)).toMatchObject([
    { hook: 'before_action', conversation_id: id, action: { action: 'run', args: { command: 'touch fine' } } },
    { action: { args: { command: 'touch push' } } },
  ]);
});
