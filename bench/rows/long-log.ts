import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { codeActAgent, openConversation, type SourcedDraft } from '@tendon/core';
import { createMask } from '@tendon/protocol/masking';
import { openSqliteStorage } from '@tendon/core/storage';
import { AgentStateChangedObservation, CondensationAction, RunAction, RunObservation } from '@tendon/protocol';
import { at } from '../at.ts';
import type { ModelServer } from '../model-server.ts';
import { membersOf, pssMiB } from '../process-memory.ts';
import type { Row } from '../row.ts';
import { start } from '../target.ts';
import { connect, create, run, type V0Event } from '../v0-client.ts';

const OUTPUT_CHARS = 4_000;
const CONDENSED_EVERY = 400;
/** Events that a condensation leaves: with their outputs about 300 KiB. */
const RETAINED = 150;
/** A server returns freed memory only after a while. */
const SETTLED_MS = 2_000;

/** How long the first visitor waits for a conversation of weeks, on a server that was just started. */
export const longLog: Row = {
  title:
    'a conversation of 100,000 events after a restart, 300 KiB shown to the model: connect → newest event, ms / message → request, ms / growth of the server, PSS MiB (minimum and median each)',
  of: 'build',
  write: (figures) => [0, 1, 2].map((part) => minimumAndMedian(figures.filter((_, index) => index % 3 === part))).join(' / '),
  async measure(build, { home: folder, events, rounds, model }) {
    const home = join(folder, 'long-log');
    const target = build.server(home, { LLM_MODEL: 'openai/gpt-4o', LLM_API_KEY: 'benchmark-key', LLM_BASE_URL: model.url });
    const first = await start(target);
    const { id, socket } = await create(target.url);
    socket.close();
    await first.stop();
    let last = (await fillLog(home, id, events)) - 1;
    const figures: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const { pid, stop } = await start(target);
      try {
        const visit = await visited(target.url, { id, last, model, memory: () => pssMiB(membersOf(pid, home)) });
        figures.push(visit.openMs, visit.requestMs, visit.growthMiB);
        last = visit.last;
      } finally {
        await stop();
      }
    }
    return figures;
  },
};

interface Visit {
  readonly openMs: number;
  readonly requestMs: number;
  readonly growthMiB: number;
  readonly last: number;
}

async function visited(
  url: string,
  log: { readonly id: string; readonly last: number; readonly model: ModelServer; memory(): number },
): Promise<Visit> {
  // The modules that a server loads for its first model request are not a cost of the long log.
  const other = await create(url);
  await run(other, 'BENCH:0:true');
  other.socket.close();
  await sleep(SETTLED_MS);
  const before = log.memory();
  const began = performance.now();
  const events: V0Event[] = [];
  const opened = Promise.withResolvers<number>();
  const socket = connect(url, log.id, log.last - 1, (event) => {
    events.push(event);
    if (event.id === log.last) opened.resolve(performance.now());
  });
  const openMs = (await opened.promise) - began;
  log.model.reset();
  const asked = performance.now();
  await run({ id: log.id, socket, events, readyMs: 0 }, 'BENCH:0:true');
  const request = log.model.requests.find(({ hasTools }) => hasTools);
  if (!request) throw new Error('the model was not asked');
  await sleep(SETTLED_MS);
  const growthMiB = log.memory() - before;
  socket.close();
  return { openMs, requestMs: request.arrived - asked, growthMiB, last: Number(events.at(-1)?.id) };
}

/** The log as a server writes it, through an open conversation, without the model and the sandbox; resolves with its next id. */
async function fillLog(home: string, id: string, events: number): Promise<number> {
  const clock = { now: () => new Date(), sleep: () => Promise.resolve() };
  const storage = await openSqliteStorage({ path: join(home, 'tendon.db'), blobDir: join(home, 'blobs'), clock });
  const conversation = await openConversation({
    id,
    log: await storage.events.open(id),
    agent: codeActAgent,
    llm: () => Promise.reject(new Error('nobody asks it')),
    sandbox: {
      runtimes: {
        acquire: () => Promise.reject(new Error('nothing runs')),
        current: () => undefined,
        isWorkspaceEmpty: async () => true,
        stop: async () => undefined,
      },
    },
    settings: {},
    host: { clock, mask: createMask([]) },
  });
  while (conversation.state.nextId < events) {
    await conversation.note((firstId) => condensed(firstId));
    await setImmediate();
  }
  await conversation.note(() => [
    { source: 'environment', ...AgentStateChangedObservation.create('', { agent_state: 'awaiting_user_input', reason: '' }) },
  ]);
  const { nextId } = conversation.state;
  await conversation.close();
  await storage.close();
  return nextId;
}

/** Steps of an agent, and the condensation after them. */
function condensed(firstId: number): readonly SourcedDraft[] {
  const steps = Array.from({ length: CONDENSED_EVERY / 2 }, (_, n) => step(firstId + 2 * n)).flat();
  const end = firstId + steps.length - RETAINED - 1;
  const args = { forgotten_events_start_id: 0, forgotten_events_end_id: end, summary: 'Much was done.', summary_offset: 0 };
  return [...steps, { source: 'agent', ...CondensationAction.create(args) }];
}

function step(id: number): readonly SourcedDraft[] {
  const command = `sed -n ${id}p file.py`;
  const call = { id: `call_${id}`, type: 'function' as const, function: { name: 'execute_bash', arguments: JSON.stringify({ command }) } };
  const message = { role: 'assistant' as const, content: 'I look at the file.', tool_calls: [call] };
  const model_response = { id: `r${id}`, model: 'm', choices: [{ finish_reason: 'tool_calls', index: 0, message }] };
  const tool_call_metadata = { function_name: 'execute_bash', tool_call_id: call.id, total_calls_in_response: 1, model_response };
  const output = RunObservation.create(`${id} ${'y'.repeat(OUTPUT_CHARS)}`, { command, metadata: { exit_code: 0 } });
  return [
    { source: 'agent', ...RunAction.create({ command }), tool_call_metadata },
    { source: 'agent', ...output, cause: id, tool_call_metadata },
  ];
}

function minimumAndMedian(figures: readonly number[]): string {
  return `${Math.min(...figures).toFixed(0)}, ${at(figures, 0.5).toFixed(0)}`;
}
