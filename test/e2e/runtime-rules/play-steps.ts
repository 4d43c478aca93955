import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TendonProcess, Watcher, type WireEvent } from '@tendon/testing/servers';
import type { Step } from './rule-case.ts';

/**
 * Plays steps in order in one conversation on a server of its own and gives each its observation. What the agent does is the
 * script of its model, which speaks up (and waits) wherever a client has its turn.
 */
export async function playSteps(steps: readonly Step[]): Promise<ReadonlyMap<Step, WireEvent>> {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-rules-'));
  const script = join(folder, 'script.json');
  const turns = turnsOf(steps);
  writeFileSync(script, JSON.stringify(turns.flatMap((turn) => (turn.by === 'agent' ? answersOf(turn.steps, steps) : []))));
  const tendon = await TendonProcess.start({ LLM_MODEL: `scripted/${script}`, SANDBOX_NO_OUTPUT_SECONDS: '10' });
  try {
    const { conversation_id: id } = await tendon.json<{ conversation_id: string }>('/api/conversations', {});
    const watcher = new Watcher(tendon.url, id);
    await watcher.untilState('awaiting_user_input');
    for (const turn of turns) await (turn.by === 'agent' ? letAgent(watcher) : letClient(watcher, turn.steps));
    watcher.close();
    return observationsOf(watcher.events, steps);
  } finally {
    await tendon.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Turn {
  readonly by: Step['by'];
  readonly steps: readonly Step[];
}

/** Neighbouring steps of the same one. */
function turnsOf(steps: readonly Step[]): readonly Turn[] {
  const turns: { by: Step['by']; steps: Step[] }[] = [];
  for (const step of steps) {
    const last = turns.at(-1);
    if (last?.by === step.by) last.steps.push(step);
    else turns.push({ by: step.by, steps: [step] });
  }
  return turns;
}

const callId = (step: Step, all: readonly Step[]): string => `step_${all.indexOf(step)}`;

function answersOf(own: readonly Step[], all: readonly Step[]): readonly object[] {
  const calls = own.map((step) => ({ toolCalls: [{ name: step.name, arguments: step.args, id: callId(step, all) }] }));
  return [...calls, { text: 'Your turn.' }];
}

async function letAgent(watcher: Watcher): Promise<void> {
  const from = watcher.lastId;
  watcher.send('message', { content: 'Go on.' });
  await watcher.until(
    ({ id, observation, extras }) =>
      id > from && observation === 'agent_state_changed' && /^(?:awaiting_user_input|error)$/.test(String(extras?.agent_state)),
  );
}

async function letClient(watcher: Watcher, steps: readonly Step[]): Promise<void> {
  for (const { name, args } of steps) {
    const from = watcher.lastId;
    watcher.send(name, args);
    const { id: cause } = await watcher.until(({ id, action, source }) => id > from && action === name && source === 'user');
    await watcher.until((event) => event.cause === cause);
  }
}

/** By the call's id for the agent's, in the order they were sent for the client's. */
function observationsOf(events: readonly WireEvent[], steps: readonly Step[]): ReadonlyMap<Step, WireEvent> {
  const observations = events.filter(({ observation }) => observation !== undefined);
  const sent = events.filter(
    ({ action, source }) => source === 'user' && action !== undefined && action !== 'message' && action !== 'recall',
  );
  const found = new Map<Step, WireEvent>();
  let next = 0;
  for (const step of steps) {
    const cause = step.by === 'client' ? sent[next++]?.id : undefined;
    const event = observations.find((one) =>
      step.by === 'client' ? one.cause === cause && cause !== undefined : callOf(one) === callId(step, steps),
    );
    if (event) found.set(step, event);
  }
  return found;
}

function callOf(event: WireEvent): unknown {
  return (event as { tool_call_metadata?: { tool_call_id?: unknown } }).tool_call_metadata?.tool_call_id;
}
