/** An agent has another one do a part of its work: real conversations, a real sandbox each, also through a crash of the server. */
import { io } from 'socket.io-client';
import { expect, it, onTestFinished } from 'vitest';
import { startScriptedModel } from '@tendon/conformance';
import { TendonProcess } from '@tendon/testing/servers';

interface LogEvent {
  readonly id?: number;
  readonly action?: string;
  readonly observation?: string;
  readonly content?: string;
  readonly extras?: { readonly outputs?: { readonly conversation_id?: string }; readonly agent_state?: string };
}

it('EN139, SV118: in a conversation of its own on the same folder, begun once though the server is killed in the middle', async () => {
  const model = await startScriptedModel();
  onTestFinished(() => model.close());
  const tendon = await TendonProcess.start({ LLM_MODEL: 'openai/gpt-4o', LLM_API_KEY: 'key-of-no-one', LLM_BASE_URL: model.url });
  onTestFinished(() => tendon.remove());

  const part = model.script([
    { call: 'execute_bash', args: { command: 'echo begun >> begun; until test -e go; do sleep 0.05; done; echo part > part.txt' } },
    { call: 'finish', args: { message: 'the part is done' } },
  ]);
  const whole = model.script([
    { call: 'delegate', args: { task: part } },
    { call: 'execute_bash', args: { command: 'cat part.txt begun' } },
    { call: 'finish', args: { message: 'all is done' } },
  ]);
  const made = await fetch(`${tendon.url}/api/conversations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ initial_user_msg: whole }),
  });
  const { conversation_id: id } = (await made.json()) as { conversation_id: string };
  const files = async (): Promise<readonly string[]> =>
    (await (await fetch(`${tendon.url}/api/conversations/${id}/list-files`)).json()) as string[];
  await expect.poll(files).toContain('begun');
  await tendon.kill('SIGKILL');
  await tendon.start();
  await fetch(`${tendon.url}/api/conversations/${id}/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'run', args: { command: 'touch go' } }),
  });

  const seen: LogEvent[] = [];
  const socket = io(tendon.url, { query: { conversation_id: id, latest_event_id: '-1' }, transports: ['websocket'] });
  onTestFinished(() => void socket.close());
  socket.on('oh_event', (event: LogEvent) => seen.push(event));
  await expect.poll(() => seen.some(({ extras }) => extras?.agent_state === 'finished'), { timeout: 50_000 }).toBe(true);
  const report = seen.find(({ observation }) => observation === 'delegate');
  expect(report?.content).toBe('the part is done');
  expect(seen.findLast(({ observation }) => observation === 'run')?.content).toBe('part\nbegun');
  const other = await (await fetch(`${tendon.url}/api/conversations/${report!.extras!.outputs!.conversation_id}`)).json();
  expect(other).toMatchObject({ agent_state: 'finished' });

  const child = report!.extras!.outputs!.conversation_id!;
  const status = async (which: string): Promise<number> => (await fetch(`${tendon.url}/api/conversations/${which}/events?limit=1`)).status;
  expect([await status(id), await status(child)]).toEqual([200, 200]);
  const remove = () => fetch(`${tendon.url}/api/conversations/${id}`, { method: 'DELETE' }).catch(() => undefined);
  void remove();
  await tendon.kill('SIGKILL');
  await tendon.start();
  // Where it was hit before the deletion was begun, nothing is gone.
  if ((await status(id)) === 200) await remove();
  await expect.poll(async () => [await status(id), await status(child)]).toEqual([404, 404]);
});
