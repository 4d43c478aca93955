/** `@tendon/client` against a real server that dies and comes back. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createRest, type ConversationConnection } from '@tendon/client';
import { isObservation, type Event } from '@tendon/protocol';
import { TendonProcess } from '@tendon/testing/servers';
import { expect, it, onTestFinished } from 'vitest';

const STEPS = 12;

async function serve(): Promise<TendonProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-client-'));
  const path = join(folder, 'script.json');
  const step = { text: 'Step {i}.', toolCalls: [{ name: 'execute_bash', arguments: { command: 'sleep 0.2; echo {i}' } }], times: STEPS };
  writeFileSync(path, JSON.stringify({ answers: [step, { text: 'All steps ran.' }] }));
  const tendon = await TendonProcess.start({ LLM_MODEL: `scripted/${path}` });
  onTestFinished(async () => {
    await tendon.remove();
    rmSync(folder, { recursive: true, force: true });
  });
  return tendon;
}

const deadline = () => AbortSignal.timeout(60_000);
const isState = (event: Event) => isObservation(event) && event.observation === 'agent_state_changed';
const answers = (connection: ConversationConnection) =>
  connection.getSnapshot().events.filter((event) => isObservation(event) && event.observation === 'run').length;

it('CL1 CL2 CL3: a client that lived through two deaths of the server holds what one that comes later is sent', async () => {
  const tendon = await serve();
  const baseUrl = tendon.url;
  const { conversation_id: id } = await createRest({ baseUrl }).conversations.create({ initial_user_msg: 'go' });
  const connection = connect(id, { baseUrl, random: () => 1 });
  onTestFinished(() => connection.close());
  for (const atLeast of [3, 7]) {
    await connection.when(() => answers(connection) >= atLeast, deadline());
    await tendon.kill('SIGKILL');
    await connection.when((snapshot) => snapshot.connection.state !== 'connected', deadline());
    await tendon.start();
  }
  const done = await connection.when(
    ({ state, connection: now }) => state.agentState === 'awaiting_user_input' && now.state === 'connected',
    deadline(),
  );
  const ids = done.events.map((event) => event.id);
  expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));

  const later = connect(id, { baseUrl });
  onTestFinished(() => later.close());
  const received = await later.when(({ loaded }) => loaded, deadline());
  // State changes that were passed over in a replay are sent to nobody who came after them.
  const steps = (events: readonly Event[]) => events.filter((event) => !isState(event)).map((event) => event.id);
  expect(steps(done.events)).toEqual(expect.arrayContaining(steps(received.events)));
  expect(received.state.agentState).toBe('awaiting_user_input');
  expect(answers(connection)).toBe(STEPS);
});
