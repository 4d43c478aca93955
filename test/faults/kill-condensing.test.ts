/** The server dies while a summary is asked for, or when it has just been appended: the next one condenses once, and the model is shown the summary. */
import { startScriptedModel, type ModelStep, type ScriptedModel } from '@tendon/conformance';
import { itInFull, lastOf, waitFor } from '@tendon/testing';
import { TendonProcess, Watcher, type WireEvent } from '@tendon/testing/servers';
import { expect, it, onTestFinished } from 'vitest';

const thought = (n: number): ModelStep => ({ call: 'think', args: { thought: `thought-${n} ${'on and on '.repeat(50)}` } });
const THOUGHTS = [1, 2, 3, 4, 5, 6].map(thought);
const TOO_LONG: ModelStep = { status: 400, code: 'context_length_exceeded', says: 'maximum context length exceeded' };
const SUMMARY = 'the-summary-of-it';
const isCondensation = ({ action }: WireEvent): boolean => action === 'condensation';
const isState =
  (state: string, from = 0) =>
  ({ id, extras }: WireEvent): boolean =>
    id >= from && extras?.agent_state === state;

interface Condensing {
  readonly model: ScriptedModel;
  readonly tendon: TendonProcess;
  readonly id: string;
  readonly watcher: Watcher;
}

async function begin(): Promise<Condensing> {
  const model = await startScriptedModel();
  onTestFinished(() => model.close());
  const env = { RUNTIME: 'none', LLM_MODEL: 'openai/scripted', LLM_API_KEY: 'a-key-for-tests', LLM_BASE_URL: model.url };
  const tendon = await TendonProcess.start(env);
  onTestFinished(() => tendon.remove());
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {});
  const watcher = new Watcher(tendon.url, id);
  onTestFinished(() => watcher.close());
  return { model, tendon, id, watcher };
}

async function restart({ tendon }: Condensing): Promise<void> {
  await tendon.kill('SIGKILL');
  await tendon.start();
}

function expectShown(asked: unknown, words: string): void {
  const text = JSON.stringify(asked);
  for (const part of [SUMMARY, words]) expect(text).toContain(part);
  expect(text).not.toContain('thought-1 ');
}

it('EN919: killed while the summary is asked for, the next server asks for it once more', async () => {
  const started = await begin();
  const { model, tendon, id, watcher } = started;
  const asked = Promise.withResolvers<void>();
  let times = 0;
  const aside: ModelStep = {
    text: SUMMARY,
    get after() {
      times += 1;
      asked.resolve();
      return times === 1 ? new Promise<void>(() => {}) : undefined;
    },
  };
  const words = model.script([...THOUGHTS, { text: 'thought' }, { text: 'seen' }], aside);
  watcher.send('message', { content: words });
  await watcher.until(({ args }) => args?.content === 'thought', 'the answer');
  watcher.send('condensation_request', {});
  await waitFor(asked.promise, () => `the request for a summary; ${lastOf(watcher.events)}`);
  await restart(started);
  await watcher.until(isCondensation, 'the condensation');
  watcher.send('message', { content: `Go on. ${words}` });
  await watcher.until(({ args }) => args?.content === 'seen', 'the next answer');
  expect((await tendon.trajectory(id)).filter(isCondensation).map(({ args }) => args?.summary)).toEqual([SUMMARY]);
  expect(times).toBe(2);
  expectShown(model.requests(words).at(-1), words);
});

itInFull(
  'EN919: killed when the summary is appended, the next server asks the model with it and condenses no more',
  { timeout: 120_000 },
  async () => {
    const started = await begin();
    const { model, tendon, id, watcher } = started;
    const killed = Promise.withResolvers<void>();
    const held: ModelStep = { text: 'in the end', after: killed.promise };
    const words = model.script([...THOUGHTS, TOO_LONG, held, { text: 'in the end' }], { text: SUMMARY });
    watcher.send('message', { content: words });
    const { id: condensed } = await watcher.until(isCondensation, 'the condensation');
    await restart(started);
    killed.resolve();
    await watcher.until(isState('awaiting_user_input', condensed), 'the end of the turn');
    const log = await tendon.trajectory(id);
    expect(log.filter(isCondensation)).toHaveLength(1);
    expect(log.filter(({ args }) => args?.content === 'in the end')).toHaveLength(1);
    expectShown(model.requests(words).at(-1), words);
  },
);
