import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { argsOf, extrasOf, isAction, isObservation, type Frame } from '../../target/frames.ts';
import type { ModelStep } from '../../model/model-step.ts';
import { hasStatus, hasTypes } from '../shapes.ts';
import { enter, FINISH, isState, RUN, strictly, playSteps } from './document-client.ts';

const CHECKS: readonly Check[] = [
  {
    id: 'events-doc/task',
    title: 'a client without any query that speaks first sends `message` on `oh_action` and sees the task done on `oh_event`',
    cites: ['F2', 'F3', 'SV14', 'K3'],
    async run(target) {
      const { frames, send } = target.connect.socketIo({ says: 'oh_action' });
      send({ action: 'message', args: { content: target.model.script([RUN, FINISH]) } });
      await frames.until('FINISHED', isState('FINISHED'));
      assert.match(String((await frames.until('run', isObservation('run'))).content), /documented/);
    },
  },
  {
    id: 'events-doc/waits',
    title: 'a client that says nothing before it hears `INIT` hears `LOADING`, then `INIT`, and its first message does the task',
    cites: ['DL180', 'Q1', 'Q2'],
    async run(target) {
      const { frames } = await playSteps(target, [RUN, FINISH]);
      const [first, second] = frames.all.filter(isObservation('agent_state_changed')).map((frame) => extrasOf(frame).agent_state);
      assert.deepEqual([first, second], ['LOADING', 'INIT']);
    },
  },
  {
    id: 'events-doc/coming-back',
    title: 'after a cut line a client comes back with the `conversation_id` of the frames, and gets what it missed and nothing twice',
    cites: ['DL181'],
    async run(target) {
      const peer = await playSteps(target, [FINISH]);
      const { conversation_id, id } = peer.frames.all.findLast((frame) => frame.id !== undefined) ?? {};
      assert.equal(typeof conversation_id, 'string');
      peer.close();
      const query = { conversation_id: String(conversation_id), latest_event_id: String(id), dialect: 'events-doc' };
      const again = target.connect.socketIo({ says: 'oh_action', query });
      again.send({ action: 'message', args: { content: target.model.script([FINISH]) } });
      await again.frames.until('FINISHED', isState('FINISHED'));
      assert.equal(again.frames.all.find((frame) => frame.id !== undefined)?.id, Number(id) + 1);
    },
  },
  {
    id: 'events-doc/user-files',
    title: 'a client’s `write`, `read`, `edit` and `run` of the document’s own shape are carried out',
    cites: ['F5', 'J1', 'J2', 'J3', 'J7', 'J8', 'J13', 'J14', 'J16', 'J17', 'J24', 'M1', 'M2', 'M3', 'DL37', 'DL178', 'S5'],
    async run(target) {
      const { frames, send } = await playSteps(target, [FINISH]);
      const path = '/tmp/conformance-document.txt';
      send({ action: 'write', args: { path, content: 'one\ntwo\n', start: 0, end: -1, thought: '', security_risk: null } });
      hasTypes((await frames.until('write', isObservation('write'))).extras, { path: 'string' }, 'extras');
      const edit = { path, command: 'str_replace', file_text: null, old_str: 'two', new_str: 'three', insert_line: null };
      send({ action: 'edit', args: { ...edit, content: '', start: 1, end: -1, thought: '', security_risk: null, impl_source: 'oh_aci' } });
      const edited = await frames.until('edit', isObservation('edit'));
      hasTypes(edited.extras, { path: 'string', prev_exist: 'boolean', old_content: 'string', new_content: 'string' }, 'extras');
      hasTypes(edited.extras, { impl_source: 'string', diff: 'string|null' }, 'extras');
      send({ action: 'read', args: { path, start: 0, end: -1, thought: '', impl_source: 'default', view_range: null } });
      const read = await frames.until('read', isObservation('read'));
      assert.match(String(read.content), /one\s+three/);
      hasTypes(read.extras, { path: 'string', impl_source: 'string' }, 'extras');
    },
  },
  {
    id: 'events-doc/pause',
    title: '`change_agent_state` with `PAUSED` and `RUNNING` in the document’s case is obeyed',
    cites: ['H1', 'Q5', 'DL21', 'DL33', 'EN214', 'S1', 'Q46'],
    async run(target) {
      const peer = await enter(target);
      const steps = [1, 2].map((n): ModelStep => ({ call: 'execute_bash', args: { command: `sleep 0.5; echo ${n}` } }));
      peer.send({ action: 'message', args: { content: target.model.script([...steps, FINISH]) } });
      await peer.frames.until('action run', isAction('run'));
      peer.send({ action: 'change_agent_state', args: { agent_state: 'PAUSED', thought: 'a pause' } });
      const request = await peer.frames.until('the request', isAction('change_agent_state'));
      assert.equal(argsOf(request).thought, 'a pause');
      await peer.frames.until('PAUSED', isState('PAUSED'));
      peer.send({ action: 'change_agent_state', args: { agent_state: 'RUNNING', thought: '' } });
      await peer.frames.until('FINISHED', isState('FINISHED'));
    },
  },
  {
    id: 'events-doc/null',
    title: 'a `null` action without `args` comes back, then the `null` observation',
    cites: ['K4', 'P4', 'Q31', 'Q47', 'DL92', 'S10', 'DL26'],
    async run(target) {
      const peer = await playSteps(target, [FINISH]);
      const from = peer.frames.all.length;
      peer.send({ action: 'null' });
      await peer.frames.until('action null', isAction('null'), { from });
      await peer.frames.until('observation null', isObservation('null'), { from });
    },
  },
  {
    id: 'events-doc/rejected',
    title: 'a client’s `run` that says `rejected` or `awaiting_confirmation` does not run, and is answered by `user_rejected` or `null`',
    cites: ['EN213', 'P3', 'Q17'],
    async run(target) {
      const { frames, send } = await playSteps(target, [FINISH]);
      for (const [confirmation_state, kind] of [
        ['rejected', 'user_rejected'],
        ['awaiting_confirmation', 'null'],
      ] as const) {
        const from = frames.all.length;
        send({ action: 'run', args: { command: 'echo it ran', confirmation_state } });
        const { id } = await frames.until('the action', isAction('run'), { from });
        const answer = await frames.until('its answer', ({ cause, observation }) => cause === id && observation !== undefined, { from });
        assert.equal(answer.observation, kind);
      }
    },
  },
  {
    id: 'events-doc/errors',
    title: 'a frame that cannot be understood is answered by an `error` observation with an `error_id`',
    cites: ['P1', 'DL22', 'SV16'],
    async run(target) {
      const peer = await playSteps(target, [FINISH]);
      const from = peer.frames.all.length;
      peer.send({ action: 'no_such_action', args: {} });
      hasTypes((await peer.frames.until('error', isObservation('error'), { from })).extras, { error_id: 'string' }, 'extras');
    },
  },
  {
    id: 'events-doc/not-for-clients',
    title: 'an action that only the agent may send is refused with an `error`, and a client’s `finish` asks for the state `FINISHED`',
    cites: ['DL183', 'EN214'],
    async run(target) {
      const { frames, send } = await playSteps(target, [{ text: 'and now?' }], 'AWAITING_USER_INPUT');
      await frames.until('the question', (frame) => isAction('message')(frame) && frame.source === 'agent');
      const agents = [
        { action: 'think', args: { thought: 't' } },
        { action: 'reject', args: { outputs: { reason: 'r' }, thought: '' } },
        { action: 'delegate', args: { agent: 'CodeActAgent', inputs: { task: 't' }, thought: '' } },
        { action: 'summarize', args: { summary: 's' } },
      ];
      for (const frame of agents) {
        const from = frames.all.length;
        send(frame);
        const answer = await frames.until('the refusal', isObservation('error'), { from });
        assert.match(String(answer.content), new RegExp(frame.action));
      }
      send({ action: 'finish', args: { final_thought: 'enough', task_completed: 'true', outputs: {}, thought: '' } });
      await frames.until('FINISHED', isState('FINISHED'));
      assert.equal(argsOf(frames.all.findLast(isAction('change_agent_state')) ?? {}).thought, 'enough');
    },
  },
  {
    id: 'events-doc/look-up',
    title: 'a later message is looked up in the knowledge there is; what finds nothing is answered by `null`',
    cites: ['EN7', 'DL36'],
    async run(target) {
      const peer = await playSteps(target, [FINISH]);
      const from = peer.frames.all.length;
      peer.send({ action: 'message', args: { content: target.model.script([FINISH]) } });
      const look = await peer.frames.until('the look-up', isAction('recall'), { from });
      const answer = await peer.frames.until('its answer', ({ cause, observation }) => cause === look.id && observation !== undefined, {
        from,
      });
      assert.equal(answer.observation, 'null');
    },
  },
  {
    id: 'events-doc/files',
    title: 'the addendum: `BackendSettings` say where the server is, `FileNode` is a tree, `FileContent` has `code`',
    cites: ['R1', 'R2', 'R3', 'R4', 'DL40', 'DL46', 'E7'],
    async run(target) {
      const settings = await target.ask('GET', '/api/backend-settings');
      hasStatus(settings, 200);
      hasTypes(settings.body, { backend_host: 'string', backend_port: 'number', use_tls: 'boolean' }, 'settings');
      const id = await target.converse();
      const write = { action: 'write', args: { path: 'folder/file.txt', content: 'text\n' } };
      hasStatus(
        await target.ask('POST', `/api/conversations/${id}/events`, { body: { action: 'run', args: { command: 'mkdir -p folder' } } }),
        200,
      );
      hasStatus(await target.ask('POST', `/api/conversations/${id}/events`, { body: write }), 200);
      const { frames } = target.connect.socketIo({ query: { conversation_id: id, latest_event_id: '-1' } });
      await frames.until('write', isObservation('write'));
      const tree = await target.ask('GET', `/api/conversations/${id}/files/tree`);
      hasTypes(tree.body, { path: 'string', name: 'string', type: 'string', children: 'array' }, 'tree');
      const folder = (tree.body.children as unknown as readonly Frame[]).find(({ name }) => name === 'folder');
      hasTypes(
        (folder?.children as readonly unknown[] | undefined)?.[0],
        { path: 'string', name: 'string', type: 'string', size: 'number' },
        'file',
      );
      assert.deepEqual((await target.ask('GET', `/api/conversations/${id}/files/content?path=folder/file.txt`)).body, { code: 'text\n' });
    },
  },
];

/** How a client of `openhands-events.md` begins, what it may send and request, and how it reconnects. */
export const sending: readonly Check[] = CHECKS.map(strictly);
