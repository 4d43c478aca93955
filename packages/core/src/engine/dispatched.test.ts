/** A dispatched action is not dispatched again when its outcome was lost, with a process that died or a storage that failed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CallToolMcpAction, ChangeAgentStateAction, McpObservation, type Event } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { bash, done, ID, outline, stage, systemClock, watchAppends, type Stage } from '../conversation/conversation.test-support.ts';
import type { EventLog, SourcedDraft } from '../log/event-log.ts';
import { StorageError } from '../log/storage-error.ts';
import { createMemoryStorage } from '../storage/index.ts';
import type { Tool } from '../tools/define-tool.ts';
import type { ExternalTools } from './host-capabilities.ts';

const stop = ChangeAgentStateAction.create({ agent_state: 'stopped' });

async function memoryLog(): Promise<EventLog> {
  return createMemoryStorage({ clock: systemClock }).events.open(ID);
}

/** A disk that fails when the first such observation is stored; a full disk would be retried. */
async function failingFor(observation: string): Promise<EventLog> {
  let left = 1;
  const isIt = (draft: SourcedDraft): boolean => 'observation' in draft && draft.observation === observation && left-- > 0;
  return watchAppends(await memoryLog(), (drafts) => {
    if (drafts.some(isIt)) throw new StorageError('failed', 'the disk failed to keep a write');
  });
}

const lines = ({ folder }: Stage): string => readFileSync(join(folder, 'lines'), 'utf8');
const answers = (events: readonly Event[], to: string): readonly Event[] =>
  events.filter(({ cause }) => cause !== undefined && 'action' in events[cause]! && events[cause].action === to);

async function untilHalted({ reported, untilFrame }: Stage): Promise<void> {
  await untilFrame((frame) => frame.volatile === 'status' && frame.type === 'error');
  expect(reported).toMatchObject([{ code: 'failed' }]);
}

const countOnce = bash('echo x >> lines; echo counted');

it('EN166: an action whose outcome could not be stored is asked for in the same process, and not run again', async () => {
  const one = await stage({ log: await failingFor('run'), script: [countOnce, done] });
  await one.say('count');
  await untilHalted(one);
  one.conversation.wake();
  await one.untilState('finished');
  expect(answers(await one.events(), 'run')).toMatchObject([{ observation: 'run', content: 'counted' }]);
  expect(one.runtimes.started).toHaveLength(1);
  expect(lines(one)).toBe('x\n');
});

it('EN166: when its sandbox is gone meanwhile, its outcome is unknown, and no other sandbox gets it', async () => {
  const one = await stage({ log: await failingFor('run'), script: [countOnce, done] });
  await one.say('count');
  await untilHalted(one);
  one.runtimes.kill();
  one.conversation.wake();
  await one.untilState('finished');
  expect(answers(await one.events(), 'run')).toMatchObject([{ extras: { error_id: 'AGENT_ERROR$OUTCOME_UNKNOWN' } }]);
  expect(lines(one)).toBe('x\n');
});

it('EN166: a stop does not call it not executed', async () => {
  const one = await stage({ log: await failingFor('run'), script: [countOnce, done] });
  await one.say('count');
  await untilHalted(one);
  await one.submit(stop);
  await one.untilState('stopped');
  expect(answers(await one.events(), 'run')).toMatchObject([{ observation: 'run', content: 'counted' }]);
});

async function untilFenced(one: Stage): Promise<void> {
  await one.untilFrame((frame) => frame.volatile === 'status' && frame.type === 'error');
  expect(one.reported).toMatchObject([{ name: 'StorageError', code: 'fenced' }]);
}

const waiting = bash('until test -e go; do sleep 0.02; done');

it('RT904: an action that is refused because another server has the conversation leaves no observation, and halts this one', async () => {
  const one = await stage({ script: [waiting, done] });
  one.runtimes.fence();
  await one.say('wait');
  await untilFenced(one);
  expect(answers(await one.events(), 'run')).toEqual([]);
  await one.conversation.close();
});

it('RT904: so does one that is refused while it runs', async () => {
  const one = await stage({ script: [waiting, done] });
  await one.say('wait');
  await expect.poll(() => one.runtimes.started.length).toBe(1);
  one.runtimes.fence();
  await untilFenced(one);
  expect(answers(await one.events(), 'run')).toEqual([]);
  await one.conversation.close();
});

const CALL = { toolCalls: [{ name: 'count', arguments: {} }] };

function countingTools(): ExternalTools & { readonly calls: () => number } {
  let calls = 0;
  const tool: Tool = {
    needsSandbox: false,
    spec: { name: 'count', description: 'counts', parameters: { type: 'object', properties: {} } },
    toAction: () => ({ ok: true, action: CallToolMcpAction.create({ name: 'count', arguments: {} }) }),
  };
  return {
    calls: () => calls,
    offered: async () => [tool],
    call: async () => McpObservation.create(`${++calls}`, { name: 'count', arguments: {} }),
    close: async () => undefined,
  };
}

it.each([
  ['taken up again', undefined, 'finished'],
  ['stopped', stop, 'stopped'],
] as const)(
  'EN168: a call of an external tool whose outcome could not be stored is not made again when it is %s',
  async (_how, action, end) => {
    const external = countingTools();
    const one = await stage({ log: await failingFor('mcp'), script: [CALL, done], external });
    await one.say('count');
    await untilHalted(one);
    if (action) await one.submit(action);
    else one.conversation.wake();
    await one.untilState(end);
    expect(answers(await one.events(), 'call_tool_mcp')).toMatchObject([{ extras: { error_id: 'AGENT_ERROR$OUTCOME_UNKNOWN' } }]);
    expect(external.calls()).toBe(1);
  },
);

it('EN8: a stop after a restart finds the sandbox first, and cancels what runs in it', async () => {
  const log = await memoryLog();
  const first = await stage({ log, script: [bash('mkfifo gate; echo ready; cat gate; echo went on >> lines')] });
  await first.say('begin');
  await first.untilOutput('ready');
  await first.conversation.close();
  await log.append([{ source: 'user', ...stop }], { expectedId: log.nextId });
  // As a server that has just started: it holds no sandbox, but can find it.
  const runtimes = { ...first.runtimes, current: () => undefined };
  const second = await stage({ log, runtimes, folder: first.folder });
  second.conversation.wake();
  await second.untilState('stopped');
  expect(outline(await second.events()).slice(-2)).toEqual(['agent .run<7', 'environment .agent_state_changed:stopped']);
});

it('EN165: an id that a log assigns a second time is another action to the sandbox, which runs it', async () => {
  const first = await stage({ script: [bash('echo OLD'), done] });
  await first.say('begin');
  await first.untilState('finished');
  // The same conversation, its log put back to its beginning.
  const second = await stage({ log: await memoryLog(), runtimes: first.runtimes, folder: first.folder, script: [bash('echo NEW'), done] });
  await second.say('begin');
  await second.untilState('finished');
  expect(answers(await second.events(), 'run')).toMatchObject([{ content: 'NEW' }]);
});
