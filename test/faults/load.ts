/** Many conversations at work at once, each with clients that look on, on one server that is killed in the midst of it. */
import { expect } from 'vitest';
import { TendonProcess, Watcher, type WireEvent } from '@tendon/testing/servers';

export interface Load {
  readonly conversations: number;
  /** Thoughts of each agent; a step is two events. */
  readonly steps: number;
  /** What each thought takes: agents that think at once would be done before the second kill, and too many leave nobody else a turn. */
  readonly stepMs: number;
  /** Kills, spread over the whole run. */
  readonly kills: number;
}

const CLIENTS = 2;
const DEADLINE_MS = 20 * 60_000;

interface Observed {
  readonly id: string;
  readonly clients: readonly Watcher[];
}

/** Every client has every event in order and once, and every agent has taken every step once. */
export async function expectNothingLost({ conversations, steps, stepMs, kills }: Load): Promise<void> {
  const tendon = await TendonProcess.scripted(thinking(steps, stepMs));
  const all = await Promise.all(Array.from({ length: conversations }, () => observed(tendon)));
  try {
    for (const { clients } of all) clients[0]!.send('message', { content: 'Think.', image_urls: [], file_urls: [] });
    const seen = (): number => all.reduce((sum, { clients }) => sum + clients[0]!.events.length, 0);
    for (let kill = 1; kill <= kills; kill++) {
      await until(() => seen() >= (conversations * steps * 2 * kill) / (kills + 1));
      await tendon.kill('SIGKILL');
      await tendon.start();
    }
    await Promise.all(all.flatMap(({ clients }) => clients.map((client) => client.untilState('finished'))));
    for (const one of all) await expectWhole(tendon, one, steps);
    expect(tendon.output).not.toMatch(/\b(?:unhandled|uncaught|"level":50)\b/i);
  } finally {
    for (const { clients } of all) for (const client of clients) client.close();
    await tendon.remove();
  }
}

/** An agent that only thinks goes in circles: now and then it looks at its plan. */
const THOUGHTS_IN_A_ROW = 10;

function thinking(steps: number, stepMs: number): unknown {
  const look = { toolCalls: [{ name: 'task_tracker', arguments: { command: 'view' } }] };
  const thoughts = Array.from({ length: steps }, (_, index) => {
    const think = { toolCalls: [{ name: 'think', arguments: { thought: `thought ${index + 1}` } }], delayMs: stepMs };
    return index % THOUGHTS_IN_A_ROW === 0 ? [look, think] : [think];
  });
  return [...thoughts.flat(), { toolCalls: [{ name: 'finish', arguments: { message: 'Done.' } }] }];
}

async function observed(tendon: TendonProcess): Promise<Observed> {
  const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {});
  const clients = Array.from({ length: CLIENTS }, () => new Watcher(tendon.url, id));
  await Promise.all(clients.map((client) => client.untilState('awaiting_user_input')));
  return { id, clients };
}

async function expectWhole(tendon: TendonProcess, { id, clients }: Observed, steps: number): Promise<void> {
  const log = await tendon.trajectory(id);
  expect(log.map((event) => event.id)).toEqual(log.map((_, index) => index));
  const thoughts = log.filter(({ action }) => action === 'think').map(({ args }) => args?.thought);
  expect(thoughts).toEqual(Array.from({ length: steps }, (_, index) => `thought ${index + 1}`));
  const answered = log.filter(({ observation }) => observation === 'think').map(({ cause }) => cause);
  expect(answered).toEqual(log.filter(({ action }) => action === 'think').map((event) => event.id));
  for (const { events } of clients) {
    expect(idsOf(events.filter(isLasting))).toEqual(idsOf(log.filter(isLasting)));
    expect(new Set(idsOf(events)).size).toBe(events.length);
  }
}

/** A client that was away is sent only the last of the states it missed. */
function isLasting({ observation }: WireEvent): boolean {
  return observation !== 'agent_state_changed';
}

function idsOf(events: readonly WireEvent[]): readonly number[] {
  return events.map(({ id }) => id);
}

function until(fits: () => boolean): Promise<void> {
  return expect.poll(fits, { timeout: DEADLINE_MS, interval: 20 }).toBe(true);
}
