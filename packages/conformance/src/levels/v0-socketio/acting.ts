import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { isState, type Frame } from '../../target/frames.ts';
import { join, joinNew, message, turn } from './join.ts';

const change = (agent_state: string): Frame => ({ action: 'change_agent_state', args: { agent_state } });

/** What clients send: actions of all releases, states, and what is no action. */
export const acting: readonly Check[] = [
  {
    id: 'v0-socketio/oh_action',
    title: '`oh_action` is taken as `oh_user_action` is',
    cites: ['F3'],
    async run(target) {
      await turn(target, await joinNew(target, { says: 'oh_action' }), [{ text: 'heard' }]);
    },
  },
  {
    id: 'v0-socketio/user-run',
    title: 'a command of the user runs and is answered, without the agent',
    cites: ['F5', 'I1', 'DL20'],
    shares: 'talk',
    async run(target) {
      const { peer } = await target.shared(joinNew);
      const from = peer.frames.all.length;
      peer.send({ action: 'run', args: { command: 'echo by the user', hidden: false } });
      const observation = await peer.frames.until('the observation', (frame) => frame.observation === 'run', { from });
      assert.match(String(observation.content), /by the user/);
    },
  },
  {
    id: 'v0-socketio/old-names',
    title: 'arguments under their old names are understood (`images_urls`, `is_confirmed`, `keep_prompt`)',
    cites: ['DL20'],
    shares: 'talk',
    async run(target) {
      const { peer } = await target.shared(joinNew);
      const from = peer.frames.all.length;
      peer.send({ action: 'message', args: { content: target.model.script([{ text: 'old' }]), images_urls: null } });
      const answer = await peer.frames.until('the answer', (frame) => frame.action === 'message' && frame.source === 'agent', { from });
      await peer.frames.until('rest', isState('awaiting_user_input'), { from: peer.frames.all.indexOf(answer) });
      peer.send({ action: 'run', args: { command: 'echo old', is_confirmed: 'confirmed', keep_prompt: true } });
      await peer.frames.until('the observation', (frame) => frame.observation === 'run', { from });
    },
  },
  {
    id: 'v0-socketio/stop',
    title: '`stopped` ends what runs: the pending action is answered by an error, the state is `stopped`, and a message goes on',
    cites: ['AS1', 'EN1', 'RT7', 'SV16'],
    async run(target) {
      const ready = await joinNew(target);
      const { frames, send } = ready.peer;
      send(message(target.model.script([{ call: 'execute_bash', args: { command: 'sleep 300', timeout: 600 } }])));
      const action = await frames.until('the action', (frame) => frame.action === 'run');
      send(change('stopped'));
      await frames.until('stopped', isState('stopped'), { from: frames.all.indexOf(action) });
      await frames.until('an answer to the action', (frame) => frame.observation !== undefined && frame.cause === action.id);
      await turn(target, ready, [{ text: 'goes on' }]);
    },
  },
  {
    id: 'v0-socketio/pause',
    title: '`paused` halts the agent and `running` lets it go on',
    cites: ['AS1', 'AS2'],
    async run(target) {
      const { peer } = await joinNew(target);
      const steps = [1, 2, 3].map((n) => ({ call: 'execute_bash', args: { command: `sleep 0.5; echo ${n}` } }));
      peer.send(message(target.model.script(steps)));
      await peer.frames.until('the action', (frame) => frame.action === 'run');
      peer.send(change('paused'));
      const paused = await peer.frames.until('paused', isState('paused'));
      peer.send(change('running'));
      await peer.frames.until('the rest', isState('awaiting_user_input', 'finished'), { from: peer.frames.all.indexOf(paused) });
      const last = peer.frames.all.findLast((frame) => frame.observation === 'run');
      assert.match(String(last?.content), /3/);
    },
  },
  {
    id: 'v0-socketio/nonsense-state',
    title: 'a state that does not exist is not adopted',
    cites: ['AS5', 'DL22', 'SV16'],
    async run(target) {
      const ready = await joinNew(target);
      ready.peer.send(change('dancing'));
      await turn(target, ready, [{ text: 'well' }]);
      const states = ready.peer.frames.all.map(({ extras }) => (extras as Frame | undefined)?.agent_state);
      assert.ok(!states.includes('dancing'), 'the state became "dancing"');
    },
  },
  {
    id: 'v0-socketio/malformed',
    title: 'a frame that is no action, unknown or malformed is answered, and the socket goes on',
    cites: ['DL22', 'DL27', 'SV16', 'A11'],
    async run(target) {
      const ready = await joinNew(target);
      const { frames, send } = ready.peer;
      const junk = [
        null,
        7,
        'text',
        [],
        {},
        { action: 7 },
        { action: 'no_such_action', args: {} },
        { action: 'run' },
        { action: 'message', args: { content: 7 } },
      ];
      for (const frame of junk) {
        const from = frames.all.length;
        send(frame);
        await frames.until(
          `answer to ${JSON.stringify(frame)}`,
          ({ error, observation, status_update: isStatus }) => error !== undefined || observation === 'error' || isStatus === true,
          { from },
        );
      }
      await turn(target, ready, [{ text: 'well' }]);
    },
  },
  {
    id: 'v0-socketio/spoofed',
    title: 'ids, sources and times that a client sends are not believed',
    cites: ['DL23'],
    async run(target) {
      const { peer } = await joinNew(target);
      peer.send({
        ...message(target.model.script([{ text: 'well' }])),
        id: 9999,
        source: 'agent',
        cause: 3,
        timestamp: '1970-01-01T00:00:00',
      });
      const echo = await peer.frames.until('the echo', (frame) => frame.action === 'message');
      assert.equal(echo.source, 'user');
      assert.notEqual(echo.id, 9999);
      assert.doesNotMatch(String(echo.timestamp), /^1970/);
    },
  },
  {
    id: 'v0-socketio/images',
    title: 'pictures in a message are stored with it',
    cites: ['DL20', 'H1'],
    async run(target) {
      const { id, peer } = await joinNew(target);
      const picture =
        'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
      peer.send({ action: 'message', args: { content: target.model.script([{ text: 'seen' }]), image_urls: [picture], file_urls: [] } });
      await peer.frames.until('the answer', (frame) => frame.action === 'message' && frame.source === 'agent');
      const late = join(target, id);
      const echo = await late.frames.until('the replayed message', (frame) => frame.action === 'message' && frame.source === 'user');
      assert.deepEqual((echo.args as Frame).image_urls, [picture]);
    },
  },
  {
    id: 'v0-socketio/title',
    title: 'a new title is sent to every client by a status update',
    cites: ['SV10'],
    async run(target) {
      const { id, peer } = await joinNew(target);
      const answer = await target.ask('PATCH', `/api/conversations/${id}`, { body: { title: 'A title of its own' } });
      assert.equal(answer.status, 200);
      await peer.frames.until('the title', (frame) => frame.status_update === true && frame.conversation_title === 'A title of its own');
    },
  },
  {
    id: 'v0-socketio/model-failure',
    title: 'a model that refuses the key ends in the state `error` with a reason in words',
    cites: ['LM1', 'EN1', 'AS1'],
    async run(target) {
      const { peer } = await joinNew(target);
      peer.send(message(target.model.script([{ status: 401 }, { status: 401 }, { status: 401 }])));
      const state = await peer.frames.until('error', isState('error'));
      assert.ok(String((state.extras as Frame).reason).length > 0, 'extras.reason is empty');
    },
  },
];
