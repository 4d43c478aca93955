import { createScriptedProvider } from '@tendon/core/llm';
import type { LlmEvent, LlmProvider } from '@tendon/core';
import { expect, it, vi } from 'vitest';
import { socketIoClient, testServer } from '../../server.test-support.ts';
import { TaskBudgets } from './task-budget.ts';

/** A deadline, not a measurement: machines are busy. */
const WAIT = { timeout: 50_000 };

const COST = 0.1;
const request = { messages: [{ role: 'user' as const, text: 'go' }], tools: [] };

/** A model whose calls end when they are let go; how many run at once, at most. */
function slowModel() {
  const running = { now: 0, most: 0, made: 0 };
  const gates: (() => void)[] = [];
  const provider = createScriptedProvider(() => ({ text: 'done', costUsd: COST }));
  const slow: LlmProvider = {
    ...provider,
    async *stream(...given) {
      running.made++;
      running.most = Math.max(running.most, ++running.now);
      const { promise, resolve } = Promise.withResolvers<void>();
      gates.push(resolve);
      await promise;
      running.now--;
      yield* provider.stream(...given);
    },
  };
  return { running, slow, letGo: () => gates.splice(0).forEach((open) => open()) };
}

async function lastOf(events: AsyncIterable<LlmEvent>): Promise<LlmEvent['type'] | undefined> {
  let last: LlmEvent['type'] | undefined;
  for await (const event of events) last = event.type;
  return last;
}

/** Eight children, and eight of each below them where they are two deep, ask until they are refused. */
async function eightAtOnce(leftUsd: number | undefined, { calls = 1_000, isTwoDeep = false } = {}) {
  const { running, slow, letGo } = slowModel();
  const budgets = new TaskBudgets();
  const { signal } = new AbortController();
  const worker = async (parent: string, child: string): Promise<void> => {
    const place = { root: 'root', parent, child };
    // What a child has left by its own count is what the root has, whatever it says.
    const leave = budgets.join(place, { leftUsd: parent === 'root' ? leftUsd : 1_000, leftSteps: 1_000, spentUsd: 0 });
    const provider = await budgets.metered(child, async () => slow)();
    const below = isTwoDeep && parent === 'root' ? eight.map((n) => worker(child, `${child}-${n}`)) : [];
    for (let call = 0; call < calls; call++) if ((await lastOf(provider.stream(request, { signal }))) === 'failed') break;
    await Promise.all(below);
    leave();
  };
  const eight = Array.from({ length: 8 }, (_, n) => n);
  const work = eight.map((n) => worker('root', `child-${n}`));
  let isOver = false;
  const all = Promise.all(work).then(() => (isOver = true));
  await vi.waitUntil(() => (letGo(), isOver), { timeout: 50_000, interval: 1 });
  await all;
  return { running, budgets };
}

it('EN862: eight at once overspend what is left by one call at most, and run side by side while there is enough', async () => {
  for (const left of [0.05, 0.1, 0.95, 2, 5.01]) {
    const { running, budgets } = await eightAtOnce(left);
    expect(running.made * COST).toBeGreaterThanOrEqual(left - 1e-9);
    expect(running.made * COST).toBeLessThan(left + COST + 1e-9);
    expect(budgets.leftTo('child-0')).toBeUndefined();
  }
  expect((await eightAtOnce(5.01)).running.most).toBe(8);
});

it('EN955: two deep, eight times eight overspend what is left to the root by one call at most', async () => {
  for (const left of [0.05, 0.95, 5.01]) {
    const { running } = await eightAtOnce(left, { isTwoDeep: true });
    expect(running.made * COST).toBeGreaterThanOrEqual(left - 1e-9);
    expect(running.made * COST).toBeLessThan(left + COST + 1e-9);
  }
});

it('EN955: a child that goes on after a restart before the root has taken it up is drawn from what the root has left then', () => {
  const budgets = new TaskBudgets();
  const leave = budgets.join({ root: 'root', parent: 'child', child: 'below' }, { leftUsd: 3, leftSteps: 30, spentUsd: 0.25 });
  expect(budgets.leftTo('below')).toEqual({ leftUsd: 2.75, leftSteps: 30, steps: 0 });
  budgets.join({ root: 'root', parent: 'root', child: 'child' }, { leftUsd: 1, leftSteps: 10, spentUsd: 0.5 });
  expect(budgets.leftTo('below')).toEqual({ leftUsd: 0.25, leftSteps: 10, steps: 0 });
  budgets.join({ root: 'root', parent: 'root', child: 'other' }, { leftUsd: 1, leftSteps: 10, spentUsd: 0 });
  leave();
  expect([budgets.leftTo('below'), budgets.leftTo('other')]).toEqual([undefined, { leftUsd: 0.25, leftSteps: 10, steps: 0 }]);
});

it('EN862: without a limit nothing waits', async () => {
  expect((await eightAtOnce(undefined, { calls: 3 })).running).toMatchObject({ most: 8, made: 24 });
});

it('EN862: what a child has spent before counts, and an aborted call leaves its place', async () => {
  const budgets = new TaskBudgets();
  const { running, slow, letGo } = slowModel();
  budgets.join({ root: 'root', parent: 'root', child: 'a' }, { leftUsd: 1, leftSteps: 10, spentUsd: 0.25 });
  budgets.join({ root: 'root', parent: 'root', child: 'b' }, { leftUsd: 1, leftSteps: 10, spentUsd: 0 });
  expect(budgets.leftTo('b')).toEqual({ leftUsd: 0.75, leftSteps: 10, steps: 0 });
  const [a, b] = await Promise.all(['a', 'b'].map((id) => budgets.metered(id, async () => slow)()));
  const first = lastOf(a!.stream(request, { signal: new AbortController().signal }));
  await vi.waitUntil(() => running.now === 1, WAIT);
  // Nobody knows yet what a call costs, so the second waits.
  const gone = new AbortController();
  const second = lastOf(b!.stream(request, { signal: gone.signal }));
  gone.abort();
  expect(await second).toBeUndefined();
  letGo();
  expect(await first).toBe('done');
  expect(running.made).toBe(1);
  expect(budgets.leftTo('a')).toEqual({ leftUsd: 0.65, leftSteps: 9, steps: 1 });
});

/** Who is asked has no tool `delegate`: its first answer costs the same, and then it thinks. */
async function delegating(env: Readonly<Record<string, string>>, atOnce = 8) {
  const parts = Array.from({ length: atOnce }, (_, n) => ({ name: 'delegate', arguments: { task: `think about part ${n}` } }));
  const thinking = { toolCalls: [{ name: 'think', arguments: { thought: 'thought {i}' } }], costUsd: COST, times: 30 };
  const server = await testServer({ env, script: [{ toolCalls: parts, costUsd: COST }, thinking] });
  const client = await socketIoClient(server, { conversation_id: await server.create(), latest_event_id: -1 });
  await client.frames.untilState('awaiting_user_input');
  client.send({ action: 'message', args: { content: 'go' } });
  await client.frames.untilState('error');
  const reports = client.frames.all.filter(({ observation }) => observation === 'delegate');
  const metrics = client.frames.all.findLast((frame) => frame.llm_metrics)?.llm_metrics as { accumulated_cost: number };
  return { server, reports, metrics };
}

it('EN862: in a whole server eight delegated agents end when what is left is spent, and the sum is in the metrics', async () => {
  const { reports, metrics } = await delegating({ MAX_BUDGET_PER_TASK: '2' });
  expect(reports).toHaveLength(8);
  expect(metrics.accumulated_cost).toBeGreaterThan(1.9);
  expect(metrics.accumulated_cost).toBeLessThan(2 + COST + 1e-9);
});

it('EN955: in a whole server those that delegated agents ask share what is left, and there is no third level', async () => {
  const { server, reports, metrics } = await delegating({ MAX_BUDGET_PER_TASK: '2', MAX_DELEGATE_DEPTH: '2' }, 3);
  expect(reports).toHaveLength(3);
  expect(metrics.accumulated_cost).toBeGreaterThan(1.9);
  expect(metrics.accumulated_cost).toBeLessThan(2 + COST + 1e-9);
  const { results } = (await (await server.get('/api/conversations?limit=100')).json()) as { results: readonly unknown[] };
  expect(results).toHaveLength(1 + 3 + 9);
});

it('EN863: eight delegated agents take no more steps together than are left', async () => {
  const { reports, metrics } = await delegating({ MAX_ITERATIONS: '17' });
  expect(reports).toHaveLength(8);
  // The one that delegates has taken one of its 17 by then, and takes the others afterwards.
  expect(Math.round(metrics.accumulated_cost / COST)).toBe(17 + 16);
});
