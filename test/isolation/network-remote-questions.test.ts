/** A sandbox on another host asks a person about a name that is on no list; the host's program or the server is killed meanwhile. */
import { itInFull } from '@tendon/testing';
import { executorFolder } from '@tendon/runtime/testing';
import { ExecutorHostProcess, TendonProcess, Watcher } from '@tendon/testing/servers';
import { expect, it, onTestFinished } from 'vitest';
import { internetOfThisMachine, runIn } from '../../packages/server/src/conversations/network/network.test-support.ts';
import { socketIoClient, testServer } from '../../packages/server/src/server.test-support.ts';

async function hostOnInternet(): Promise<ExecutorHostProcess> {
  executorFolder();
  const host = await ExecutorHostProcess.start({ environment: await internetOfThisMachine() });
  onTestFinished(() => host.remove());
  return host;
}

/** What waits for a person prints nothing meanwhile. */
const ASKING = { SANDBOX_NETWORK: 'allowlist', SANDBOX_NO_OUTPUT_SECONDS: '100' };

/** A server whose sandboxes are there; what is asked waits as long as somebody looks. */
async function serverOf(host: ExecutorHostProcess) {
  const env = { ...host.serverEnvironment, ...ASKING };
  const server = await testServer({ env, questionWaitMs: 3_600_000 });
  const id = await server.create();
  const client = await socketIoClient(server, { conversation_id: id, latest_event_id: -1 });
  const asked = (name: string) =>
    client.volatile.until(
      ({ volatile, questions }) => volatile === 'network' && (questions as { host: string }[]).some(({ host: each }) => each === name),
      `the question about ${name}`,
    );
  return {
    run: (command: string) => runIn(server, id, command),
    asked,
    answer: (name: string, given: string) => answer(server.url, id, name, given),
  };
}

async function answer(url: string, id: string, host: string, given: string): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const path = `${url}/api/conversations/${id}/network/answer`;
  return (await fetch(path, { method: 'POST', headers, body: JSON.stringify({ host, answer: given }) })).status;
}

const fetching = (name: string): string => `curl -sS -m 100 http://${name}/`;

it('SB724: its connection waits for the answer, which counts at once', async () => {
  const { run, asked, answer: give } = await serverOf(await hostOnInternet());
  const printed = run(fetching('asked.example'));
  await asked('asked.example');
  expect(await give('asked.example', 'once')).toBe(200);
  expect(await printed).toContain('reached asked.example');
  const refused = run(fetching('refused.example'));
  await asked('refused.example');
  expect(await give('refused.example', 'refuse')).toBe(200);
  expect(await refused).toMatch(/refused\.example is not on the list.*a person refused it/);
});

itInFull('SB724: the question outlives the program of the host, and its answer reaches the next one', async () => {
  const host = await hostOnInternet();
  const { run, asked, answer: give } = await serverOf(host);
  const cut = run(fetching('cut.example'));
  await asked('cut.example');
  await host.kill();
  await host.start();
  expect(await cut).toContain('curl');
  expect(await give('cut.example', 'once')).toBe(200);
  expect(await run(`${fetching('cut.example')} --retry 5`)).toContain('reached cut.example');
});

itInFull('SB724: the question outlives its server, and its answer reaches the sandbox that went on', async () => {
  const host = await hostOnInternet();
  const tendon = await TendonProcess.scripted([{ text: 'hello' }], { ...host.serverEnvironment, ...ASKING });
  onTestFinished(() => tendon.remove());
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {});
  const watcher = new Watcher(tendon.url, id);
  onTestFinished(() => watcher.close());
  await watcher.untilState('awaiting_user_input');
  const printed = (end: string) =>
    watcher.until(({ observation, content }) => observation === 'run' && content?.includes(end) === true, end);
  watcher.send('run', { command: `${fetching('left.example')}; echo the first end` });
  await watcher.untilVolatile((frame) => JSON.stringify(frame).includes('left.example'), 'the question');
  await tendon.kill('SIGKILL');
  await tendon.start();
  expect((await printed('the first end')).content).toContain('left.example is not on the list');
  const shown = (await (await fetch(`${tendon.url}/api/conversations/${id}/network`)).json()) as { questions: { host: string }[] };
  expect(shown.questions).toMatchObject([{ host: 'left.example', port: 80 }]);
  expect(await answer(tendon.url, id, 'left.example', 'once')).toBe(200);
  watcher.send('run', { command: `${fetching('left.example')}; echo; echo the second end` });
  expect((await printed('the second end')).content).toContain('reached left.example');
});
