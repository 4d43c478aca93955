import { setImmediate as tick } from 'node:timers/promises';
import {
  canTransition,
  ChangeAgentStateAction,
  MessageAction,
  RunAction,
  type ActionDraft,
  type AgentState,
  type Event,
} from '@tendon/protocol';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { codeActAgent } from '../agents/code-act-agent.ts';
import type { Script } from '../llm/scripted-provider.ts';
import { legalityProblems } from '../prompt/legal-request.test-support.ts';
import { projectMessages } from '../prompt/project-messages.test-support.ts';
import { bash, done, stage, type Stage } from './conversation.test-support.ts';

const ask = (agent_state: AgentState): ActionDraft => ChangeAgentStateAction.create({ agent_state });

/** What a person may do at any time. */
const STEPS: Record<string, () => ActionDraft> = {
  message: () => MessageAction.create({ content: 'and this' }),
  pause: () => ask('paused'),
  resume: () => ask('running'),
  stop: () => ask('stopped'),
  confirm: () => ask('user_confirmed'),
  reject: () => ask('user_rejected'),
  run: () => RunAction.create({ command: 'echo mine' }),
  finish: () => ask('finished'),
};

const script: Script = (_request, n) => {
  const calls = bash('true').toolCalls;
  return [
    { toolCalls: calls },
    { toolCalls: [...calls, ...bash('false').toolCalls] },
    { text: 'and now?' },
    { toolCalls: [...calls, ...done.toolCalls] },
  ][n % 4]!;
};

function stateChanges(events: readonly Event[]): readonly AgentState[] {
  return events.flatMap((event) =>
    'observation' in event && event.observation === 'agent_state_changed' ? [event.extras.agent_state] : [],
  );
}

async function play({ submit, say, untilState, conversation }: Stage, steps: readonly (readonly [string, number])[]): Promise<void> {
  await say('begin');
  const answers = [];
  for (const [step, ticks] of steps) {
    answers.push(submit(STEPS[step]!()));
    for (let n = 0; n < ticks; n++) await tick();
  }
  for (const result of await Promise.all(answers)) expect(result).toHaveProperty(result.ok ? 'event.id' : 'error.code');
  await submit(ask('stopped'));
  await untilState('stopped', conversation.state.nextId - 1);
}

it('EN110: whatever a person does at whatever moment, the log stays sound', async () => {
  const step = fc.tuple(fc.constantFrom(...Object.keys(STEPS)), fc.nat(6));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15 }), fc.constantFrom('rules', 'never'), async (steps, mode) => {
      const theStage = await stage({
        script,
        settings: { confirmation: () => ({ mode, rules: [], analyzer: 'rules' }), maxIterations: 20 },
      });
      await play(theStage, steps);
      await theStage.conversation.close();
      const events = await theStage.events();
      expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index));
      const states = stateChanges(events);
      for (const [at, state] of states.entries())
        expect(at === 0 || canTransition(states[at - 1]!, state), `${states[at - 1]} → ${state}`).toBe(true);
      const answered = events.flatMap(({ cause }) => (cause === undefined ? [] : [cause]));
      expect(new Set(answered).size).toBe(answered.length);
      expect(new Set(theStage.runtimes.started).size).toBe(theStage.runtimes.started.length);
      expect(theStage.conversation.state.pending).toEqual([]);
      for (let n = 0; n <= events.length; n++) expect(legalityProblems(projectMessages(events.slice(0, n), codeActAgent))).toEqual([]);
    }),
    { numRuns: 60 },
  );
});
