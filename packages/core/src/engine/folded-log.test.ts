import { AGENT_STATES, canTransition, IllegalTransition, type AgentState } from '@tendon/protocol';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { failureFor } from '../log/storage-error.ts';
import { stateChanged } from './notices.ts';
import { createMemoryStorage } from '../storage/index.ts';
import { ID, openedFold, outline, systemClock } from '../conversation/conversation.test-support.ts';

async function open() {
  const log = await createMemoryStorage({ clock: systemClock }).events.open(ID);
  const { folded } = await openedFold(log);
  return { log, append: (states: readonly AgentState[]) => folded.append(() => states.map((state) => stateChanged(state))) };
}

it('AS550: a batch with a step that the table does not list is refused, and nothing of it is appended', async () => {
  const { log, append } = await open();
  await append(['loading', 'awaiting_user_input', 'running']);
  const refused = append(['paused', 'finished', 'running']);
  await expect(refused).rejects.toThrow(IllegalTransition);
  await expect(refused).rejects.toThrow('its state is paused, which finished cannot follow');
  expect(outline(await log.read()).at(-1)).toBe('environment .agent_state_changed:running');
  expect(await append(['finished'])).toHaveLength(1);
});

it('AS550: whatever is decided, the states of a log follow the table', async () => {
  const batches = fc.array(fc.array(fc.constantFrom(...AGENT_STATES), { maxLength: 3 }), { maxLength: 12 });
  const property = fc.asyncProperty(batches, async (decided) => {
    const { log, append } = await open();
    for (const states of decided) await append(states).catch(() => undefined);
    const states = (await log.read()).map((event) => (event as { extras: { agent_state: AgentState } }).extras.agent_state);
    for (const [at, state] of states.entries()) expect(canTransition(states[at - 1] ?? 'loading', state)).toBe(true);
  });
  await fc.assert(property, { numRuns: 100 });
});

it('AS550: the client is answered that the agent cannot do that', () => {
  expect(failureFor(new IllegalTransition('paused', 'finished'))).toMatchObject({ code: 'ILLEGAL_STATE' });
});
