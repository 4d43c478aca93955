import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ChangeAgentStateAction, MessageAction, RunAction, StartAction, type ActionDraft, type Event } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { Secret } from '@tendon/protocol/masking';
import { createMemoryStorage } from '../../storage/index.ts';
import { stage, systemClock, ID } from '../conversation.test-support.ts';
import { MAX_SENT } from '../../engine/engine-state.ts';

const named = (client_id: string, action: ActionDraft): ActionDraft => ({ ...action, client_id });
const message = (client_id: string, content: string) => named(client_id, MessageAction.create({ content }));
const texts = (events: readonly Event[]) =>
  events.flatMap((event) => ('action' in event && event.source === 'user' && event.action === 'message' ? [event.args.content] : []));
const log = () => createMemoryStorage({ clock: systemClock }).events.open(ID);
const script = () => ({ text: 'ok' });

it('EN181: an action keeps its client’s id, and sent again under it, it is answered with its event and appended no more', async () => {
  const { submit, untilState, events } = await stage({ script });
  const first = await submit(message('a-1', 'hello'));
  expect(first).toMatchObject({ ok: true, event: { client_id: 'a-1', source: 'user' } });
  await untilState('awaiting_user_input', 4);
  expect(await submit(message('a-1', 'hello'))).toEqual({ ...first, isRepeated: true });
  expect(await submit(named('a-1', StartAction.create({ task: 'hello' })))).toMatchObject({ ok: true, isRepeated: true });
  expect(texts(await events())).toEqual(['hello']);
});

it('EN181: sent many times at once, it is appended once', async () => {
  const { submit, events } = await stage({ script });
  const results = await Promise.all(Array.from({ length: 20 }, () => submit(message('a-1', 'hello'))));
  expect(new Set(results.map((result) => result.ok && result.event.id)).size).toBe(1);
  expect(results.filter((result) => result.ok && !result.isRepeated)).toHaveLength(1);
  expect(texts(await events())).toEqual(['hello']);
});

it('EN181: another process over the same log knows it too', async () => {
  const shared = await log();
  const first = await stage({ script, log: shared });
  await first.submit(message('a-1', 'hello'));
  await first.conversation.close();
  const second = await stage({ script, log: shared });
  expect(await second.submit(message('a-1', 'hello'))).toMatchObject({ ok: true, isRepeated: true });
  expect(texts(await second.events())).toEqual(['hello']);
});

it('EN181: a message that the mask changes is recognized by its id', async () => {
  const secrets = [new Secret('hunter2-hunter2')];
  const { submit, events } = await stage({ script, secrets });
  const send = () => submit(message('hunter2-hunter2', 'the key is hunter2-hunter2'));
  await send();
  expect(await send()).toMatchObject({ ok: true, isRepeated: true });
  expect(texts(await events())).toEqual(['the key is <secret_hidden>']);
});

it('EN182: one id for two different actions is refused, so that neither is lost', async () => {
  const { submit, events } = await stage({ script });
  await submit(message('a-1', 'hello'));
  expect(await submit(message('a-1', 'goodbye'))).toMatchObject({ ok: false, error: { code: 'CLIENT_ID_REUSED' } });
  expect(await submit(named('a-1', RunAction.create({ command: 'hello' })))).toMatchObject({ ok: false });
  expect(texts(await events())).toEqual(['hello']);
});

it('EN181: a person’s command that is sent again is not run again', async () => {
  const { submit, until, folder } = await stage({ script });
  const send = () => submit(named('t-1', RunAction.create({ command: 'echo once >> runs' })));
  const [one, two] = await Promise.all([send(), send()]);
  expect([one, two].filter((result) => result.ok && result.isRepeated)).toHaveLength(1);
  await until((event) => 'observation' in event && event.observation === 'run');
  expect(await send()).toMatchObject({ ok: true, isRepeated: true });
  await submit(named('t-2', RunAction.create({ command: 'echo twice >> runs' })));
  await until((event) => 'observation' in event && event.observation === 'run' && event.id > 5);
  expect(await readFile(join(folder, 'runs'), 'utf8')).toBe('once\ntwice\n');
});

it('EN181: a request for a state that is sent again asks for nothing new', async () => {
  const { submit, events, untilState } = await stage({ script });
  const stop = () => submit(named('s-1', ChangeAgentStateAction.create({ agent_state: 'stopped' })));
  await stop();
  await untilState('stopped');
  await submit(message('a-1', 'go on'));
  expect(await stop()).toMatchObject({ ok: true, isRepeated: true });
  expect((await events()).filter((event) => 'action' in event && event.action === 'change_agent_state')).toHaveLength(1);
});

it('EN183: the last 256 ids are recognized', async () => {
  const { submit, events } = await stage({ script });
  for (let count = 0; count <= MAX_SENT; count++) await submit(message(`a-${count}`, `message ${count}`));
  expect(await submit(message('a-1', 'message 1'))).toMatchObject({ ok: true, isRepeated: true });
  expect(await submit(message('a-0', 'message 0'))).not.toHaveProperty('isRepeated');
  expect(texts(await events())).toHaveLength(MAX_SENT + 2);
});
