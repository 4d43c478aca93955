import assert from 'node:assert/strict';
import type { Check } from '../../../check.ts';
import { extrasOf, isAction, isState } from '../../../target/frames.ts';
import { isRefusal, bash, begin, change, FINISH, rested, spoken, ran } from './talk.ts';

/** The states of an agent: which there are, who may ask for them, what follows what. */
export const states: readonly Check[] = [
  {
    id: 'v0-socketio/states-in-any-case',
    title: 'a state is read in any letter case, and in the words of 0.4',
    cites: ['AS11', 'DL21'],
    async run(target) {
      const talk = await begin(target, [bash('sleep 1; echo one'), bash('echo two')]);
      const { frames, send } = talk.ready.peer;
      await frames.until('the action', isAction('run'));
      send(change('PAUSED'));
      await frames.until('paused', isState('paused'));
      send(change('resume'));
      await frames.until('what comes after', ran('two'));
    },
  },
  {
    id: 'v0-socketio/states-asked-for',
    title: 'a client gets the states that it may ask for where the agent is, and is refused the others; `stopped` it gets everywhere',
    cites: ['AS8', 'AS4', 'AS9'],
    async run(target) {
      const { ready } = await spoken(target, [FINISH]);
      const { frames, send } = ready.peer;
      await frames.until('finished', isState('finished'));
      for (const state of ['paused', 'user_confirmed', 'rate_limited', 'loading']) {
        const from = frames.all.length;
        send(change(state));
        await frames.until(`a refusal of ${state}`, isRefusal, { from });
      }
      send(change('stopped'));
      await frames.until('stopped', isState('stopped'));
    },
  },
  {
    id: 'v0-socketio/states-legal',
    title: 'states follow each other only as the table of states allows, through work, a rate limit, a pause, a stop, an end and a failure',
    cites: ['AS2', 'AS4', 'AS575', 'AS6', 'AS9', 'Q4', 'Q5', 'Q6', 'Q9'],
    async run(target) {
      const talk = await begin(target, [{ status: 429 }, bash('sleep 0.5'), bash('true'), FINISH]);
      const { ready } = talk;
      await ready.peer.frames.until('the action', isAction('run'));
      ready.peer.send(change('paused'));
      await ready.peer.frames.until('paused', isState('paused'));
      ready.peer.send(change('running'));
      await rested(target, talk, 'finished');
      await rested(target, await begin(target, [{ status: 401 }], { ready }), 'error');
      ready.peer.send(change('stopped'));
      await ready.peer.frames.until('stopped', isState('stopped'));
      const sequence = ready.peer.frames.all
        .filter(({ observation }) => observation === 'agent_state_changed')
        .map((frame) => String(extrasOf(frame).agent_state));
      for (const [index, state] of sequence.entries()) {
        const before = sequence[index - 1];
        if (before === undefined || before === state) continue;
        assert.ok(NEXT[before]?.includes(state), `${before} was followed by ${state}`);
      }
    },
  },
];

const ACTING = 'loading running awaiting_user_input paused stopped finished rejected error rate_limited awaiting_user_confirmation';

/** What may follow a state, as docs/spec/agent-states.md has it. */
const NEXT: Readonly<Record<string, string>> = {
  loading: 'init running awaiting_user_input paused stopped error',
  init: 'loading running awaiting_user_input paused stopped error',
  running: ACTING,
  awaiting_user_input: 'loading running paused stopped finished rejected error',
  paused: 'loading running awaiting_user_input stopped error awaiting_user_confirmation',
  stopped: 'loading running awaiting_user_input error',
  finished: 'loading running awaiting_user_input stopped error',
  rejected: 'loading running awaiting_user_input stopped error',
  error: 'loading running awaiting_user_input stopped',
  rate_limited: ACTING,
  awaiting_user_confirmation: 'loading running paused stopped error user_confirmed user_rejected',
  user_confirmed: ACTING,
  user_rejected: ACTING,
};
