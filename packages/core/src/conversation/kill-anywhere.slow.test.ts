import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MessageAction, type Event } from '@tendon/protocol';
import * as fc from 'fast-check';
import { itInFull, runs } from '@tendon/testing';
import { expect, it, onTestFinished } from 'vitest';
import { createMask } from '@tendon/protocol/masking';
import { codeActAgent } from '../agents/code-act-agent.ts';
import { createScriptedProvider, type Script } from '../llm/scripted-provider.ts';
import { legalityProblems } from '../prompt/legal-request.test-support.ts';
import { projectMessages } from '../prompt/project-messages.test-support.ts';
import { createMemoryStorage } from '../storage/index.ts';
import { bash, done, ID, systemClock, temporaryFolder } from './conversation.test-support.ts';
import { createHostRuntimes } from './host-runtimes.test-support.ts';
import { mortal } from './mortal.test-support.ts';
import { openConversation } from './open-conversation.ts';

const STEPS = 5;

/** Some answers with one call, some with two, some that cannot be understood. */
const script: Script = (_request, n) => {
  if (n >= STEPS) return done;
  const count = (line: string) => bash(`echo ${line} >> counter`).toolCalls[0]!;
  const nonsense = { name: 'execute_bash', arguments: '{"command":' };
  if (n === 2) return { toolCalls: [count(`${n}a`), nonsense, count(`${n}b`)] };
  return n === 3 ? { toolCalls: [count(`${n}a`), count(`${n}b`)] } : { toolCalls: [count(`${n}a`)] };
};
/** Of what is done at every border, in further forms: daily every third, which is no whole part of a step. */
const EVERY = runs(1, 7);
const LINES = ['0a', '1a', '2a', '2b', '3a', '3b', '4a'];

interface Ending {
  readonly events: readonly Event[];
  readonly lines: readonly string[];
  readonly started: readonly string[];
  readonly kills: number;
}

/** Lives one life after the other, each until its border, then one that is never killed. */
async function live(
  lives: readonly number[],
  {
    killsSandbox,
    snapshotEvery,
    plays = script,
  }: { readonly killsSandbox: boolean; readonly snapshotEvery?: number; readonly plays?: Script },
): Promise<Ending> {
  const folder = temporaryFolder();
  const runtimes = createHostRuntimes(folder);
  onTestFinished(() => runtimes.stop(ID));
  const log = await createMemoryStorage({ clock: systemClock }).events.open(ID);
  const provider = createScriptedProvider(plays);
  let kills = 0;
  for (const dieAt of [...lives, Number.POSITIVE_INFINITY]) {
    const world = mortal({ log, provider, runtimes }, dieAt);
    const finished = oneLife(world, snapshotEvery);
    if ((await Promise.race([finished, world.died.then(() => 'died')])) !== 'died') break;
    kills++;
    if (killsSandbox) runtimes.kill();
  }
  const counter = runtimes.started.length === 0 ? '' : readFileSync(join(folder, 'counter'), 'utf8');
  return { events: await log.read(), lines: counter.split('\n').filter(Boolean), started: runtimes.started, kills };
}

/** Not closed at the end: the dead cannot be. */
async function oneLife({ log, provider, runtimes }: ReturnType<typeof mortal>, snapshotEvery: number | undefined): Promise<void> {
  const conversation = await openConversation({
    id: ID,
    log,
    agent: codeActAgent,
    llm: async () => provider,
    sandbox: { runtimes },
    settings: { ...(snapshotEvery !== undefined && { snapshotEvery }) },
    host: { clock: systemClock, mask: createMask([]) },
  });
  if (conversation.state.lastUserMessageId < 0) await conversation.submit(MessageAction.create({ content: 'count' }));
  conversation.wake();
  const ended = new AbortController();
  for await (const event of log.follow(0, { signal: ended.signal })) {
    if ('observation' in event && event.observation === 'agent_state_changed' && event.extras.agent_state === 'finished') ended.abort();
  }
}

function expectSound({ events, started }: Ending): void {
  expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index));
  expect(new Set(started).size).toBe(started.length);
  const answers = events.flatMap(({ cause }) => (cause === undefined ? [] : [cause]));
  expect(new Set(answers).size).toBe(answers.length);
  expect(events.at(-1)).toMatchObject({ observation: 'agent_state_changed', extras: { agent_state: 'finished' } });
  expect(legalityProblems(projectMessages(events, codeActAgent))).toEqual([]);
}

it('EN100: killed at any border and started again, every action is recorded once, runs once, and the task ends', async () => {
  const whole = await live([], { killsSandbox: false });
  expect(whole.lines).toEqual(LINES);
  for (let dieAt = 1; ; dieAt++) {
    const ending = await live([dieAt], { killsSandbox: false });
    expectSound(ending);
    expect(ending.lines, `killed at border ${dieAt}`).toEqual(LINES);
    if (ending.kills === 0) break;
  }
});

it('EN101: killed again and again, the same', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 6 }), async (lives) => {
      const ending = await live(lives, { killsSandbox: false });
      expectSound(ending);
      expect(ending.lines).toEqual(LINES);
    }),
    { numRuns: runs(15) },
  );
});

itInFull('EN102: with the sandbox killed too, nothing runs twice and every kill leaves at most one unknown outcome', async () => {
  for (let dieAt = 1; ; dieAt += EVERY) {
    const ending = await live([dieAt], { killsSandbox: true });
    expectSound(ending);
    expect(new Set(ending.lines).size).toBe(ending.lines.length);
    const unknown = ending.events.filter(
      (event) => 'observation' in event && event.observation === 'error' && event.extras.error_id === 'AGENT_ERROR$OUTCOME_UNKNOWN',
    );
    expect(unknown.length, `killed at border ${dieAt}`).toBeLessThanOrEqual(ending.kills);
    if (ending.kills === 0) break;
  }
});

it('EN202: the same when each life begins with the snapshot that the one before was about to write', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 6 }),
      fc.constantFrom(1, 2, 5),
      async (lives, snapshotEvery) => {
        const ending = await live(lives, { killsSandbox: false, snapshotEvery });
        expectSound(ending);
        expect(ending.lines).toEqual(LINES);
      },
    ),
    { numRuns: runs(30) },
  );
});

const view = { name: 'str_replace_editor', arguments: { command: 'view', path: 'counter' } };
const echo = (line: string) => bash(`echo ${line} >> counter`).toolCalls[0]!;
/** Three reads at once between two commands. */
const plays: Script = (_request, n) => (n === 0 ? { toolCalls: [echo('a'), view, view, view, echo('b')] } : done);

it('EN765: killed at any border while reads run side by side, each is answered once, and what follows them runs once', async () => {
  for (let dieAt = 1; ; dieAt += EVERY) {
    const ending = await live([dieAt], { killsSandbox: false, plays });
    expectSound(ending);
    expect(ending.lines, `killed at border ${dieAt}`).toEqual(['a', 'b']);
    if (ending.kills === 0) break;
  }
});

itInFull('EN765: with the sandbox killed too, nothing runs twice', async () => {
  for (let dieAt = 1; ; dieAt += EVERY) {
    const ending = await live([dieAt], { killsSandbox: true, plays });
    expectSound(ending);
    expect(new Set(ending.lines).size, `killed at border ${dieAt}`).toBe(ending.lines.length);
    if (ending.kills === 0) break;
  }
});
