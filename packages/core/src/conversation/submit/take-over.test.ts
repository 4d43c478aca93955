import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ChangeAgentStateAction, RunAction, TAKE_OVER_COMMAND, takeOverAction } from '@tendon/protocol';

import { codeActAgent } from '../../agents/code-act-agent.ts';
import { projectMessages } from '../../prompt/project-messages.test-support.ts';
import { createMemoryStorage } from '../../storage/index.ts';
import { expect, it } from 'vitest';
import { bash, done, ID, stage, systemClock, type Stage } from '../conversation.test-support.ts';
import { createHostRuntimes } from '../host-runtimes.test-support.ts';

/** The person’s part, as the sandbox of these tests plays it: it lasts until the file `back` is there. */
const typing = RunAction.create({ command: 'touch typing; until [ -e back ]; do sleep 0.02; done; echo done by hand', take_over: true });
const isThere = (folder: string, name: string) => expect.poll(() => existsSync(join(folder, name)), { timeout: 10_000 }).toBe(true);
const ran = async ({ events }: Stage) =>
  (await events()).flatMap((event) => ('observation' in event && event.observation === 'run' ? [event.content] : []));

it('EN1030: while a person has the terminal what runs goes on, nothing else is begun, and then the agent goes on knowing what happened', async () => {
  const on = await stage({
    script: [bash('touch begun; until [ -e typing ]; do sleep 0.02; done; echo first'), bash('echo second'), done],
  });
  await on.say('begin');
  await isThere(on.folder, 'begun');
  expect(await on.submit(typing)).toMatchObject({ ok: true, event: { source: 'user' } });
  await on.until((event) => 'observation' in event && event.observation === 'run');
  expect(await on.submit(typing)).toMatchObject({ ok: false, error: { code: 'ILLEGAL_STATE' } });
  expect(on.conversation.isAtWork).toBe(true);
  expect(await ran(on)).toEqual(['first']);
  await writeFile(join(on.folder, 'back'), '');
  await on.untilState('finished');
  expect(await ran(on)).toEqual(['first', 'done by hand', 'second']);
});

it('EN1031: a stop ends it, and the agent stops', async () => {
  const on = await stage({ script: [bash('echo first'), done] });
  await on.submit(typing);
  await isThere(on.folder, 'typing');
  await on.say('begin');
  await on.submit(ChangeAgentStateAction.create({ agent_state: 'stopped' }));
  await on.untilState('stopped');
  expect(await ran(on)).toHaveLength(1);
});

it('EN1032: another process over the same log goes on holding, and then goes on', async () => {
  const log = await createMemoryStorage({ clock: systemClock }).events.open(ID);
  const first = await stage({ script: [], log });
  const runtimes = createHostRuntimes(first.folder);
  const before = await stage({ script: [bash('echo first'), done], log, runtimes, folder: first.folder });
  await before.submit(typing);
  await isThere(first.folder, 'typing');
  await before.say('begin');
  await before.conversation.close();
  const after = await stage({ script: [bash('echo first'), done], log, runtimes, folder: first.folder });
  after.conversation.wake();
  expect(after.conversation.isAtWork).toBe(true);
  await writeFile(join(first.folder, 'back'), '');
  await after.untilState('finished');
  expect(await ran(after)).toEqual(['done by hand', 'first']);
});

it('EN1033: the model reads it as something that the user did', async () => {
  const on = await stage({ script: [{ text: 'ok' }] });
  await on.submit(takeOverAction());
  await on.until((event) => 'observation' in event && event.observation === 'run');
  await on.say('begin');
  await on.untilState('awaiting_user_input', 4);
  const log = await on.events();
  expect(log.find((event) => 'action' in event && event.action === 'run')).toMatchObject({
    source: 'user',
    args: { command: TAKE_OVER_COMMAND, take_over: true },
  });
  expect(JSON.stringify(projectMessages(log, codeActAgent))).toContain('[The user took this terminal over and typed into it; it showed]');
});
