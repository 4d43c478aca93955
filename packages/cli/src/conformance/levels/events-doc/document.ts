import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { argsOf, extrasOf, isAction, isObservation, type Frame } from '../../frames.ts';
import type { ModelStep } from '../../scripted-model.ts';
import type { Peer, Target } from '../../target.ts';
import { hasStatus, hasTypes } from '../shapes.ts';
import { kindOf, letterProblems } from './letter.ts';

/** A client that knows the document and nothing else: no query, `oh_action` out, `oh_event` in. */
function enter(target: Target): Peer {
  return target.socketIo({ says: 'oh_action' });
}

const isState = (state: string) => (frame: Frame) => isObservation('agent_state_changed')(frame) && extrasOf(frame).agent_state === state;

/** Says a message that makes the model take these steps, and waits until it rests. */
async function told(target: Target, steps: readonly ModelStep[], rest = 'FINISHED'): Promise<Peer> {
  const peer = enter(target);
  const content = target.script(steps);
  peer.send({ action: 'message', args: { content, image_urls: [], wait_for_response: false, security_risk: null } });
  await peer.frames.until(rest, isState(rest), { from: 1 });
  return peer;
}

const FINISH: ModelStep = { call: 'finish', args: { message: 'ready', task_completed: 'true' } };
const RUN: ModelStep = { call: 'execute_bash', args: { command: 'echo documented' }, text: 'a thought' };

/** Every frame that the check's clients of the document were sent is one at which a decoder with its types would not stop. */
function strictly(check: Check): Check {
  return {
    ...check,
    async run(target) {
      const peers: Peer[] = [];
      const watched: Target = {
        ...target,
        socketIo(ask) {
          const peer = target.socketIo(ask);
          if (ask?.says === 'oh_action') peers.push(peer);
          return peer;
        },
      };
      await check.run(watched);
      assert.deepEqual([...new Set(peers.flatMap(({ frames }) => frames.all.flatMap(letterProblems)))], []);
    },
  };
}

const CHECKS: readonly Check[] = [
  {
    id: 'events-doc/task',
    title: 'a client without any query sends `message` on `oh_action` and sees the task done on `oh_event`',
    cites: ['F2', 'F3', 'SV14', 'K3'],
    async run(target) {
      const { frames } = await told(target, [RUN, FINISH]);
      assert.match(String((await frames.until('run', isObservation('run'))).content), /documented/);
    },
  },
  {
    id: 'events-doc/base',
    title: 'every event has the base of the document: time in whole seconds with `Z`, source, message, and an id or none',
    cites: ['G1', 'G2', 'G3', 'G4', 'G5', 'DL35', 'DL36', 'Q14', 'Q15', 'Q16'],
    async run(target) {
      const { frames } = await told(target, [RUN, FINISH]);
      for (const frame of frames.all) hasTypes(frame, { timestamp: 'string', source: 'string', message: 'string' }, 'event');
    },
  },
  {
    id: 'events-doc/kinds',
    title: 'every event is one of the sixteen actions or fifteen observations, with `args` or `content` and `extras`',
    cites: ['F1', 'G6', 'G7', 'DL31', 'A11'],
    async run(target) {
      const { frames } = await told(target, [RUN, { call: 'think', args: { thought: 't' } }, FINISH]);
      const kinds = new Set(frames.all.map(kindOf));
      assert.deepEqual(
        ['action think', 'observation think', 'action run', 'observation run'].filter((kind) => !kinds.has(kind)),
        [],
      );
    },
  },
  {
    id: 'events-doc/states',
    title: 'states are in upper case: `LOADING`, `INIT`, then `RUNNING` and `FINISHED`',
    cites: ['DL33', 'DL91', 'O1', 'Q1', 'Q2', 'Q3', 'Q7', 'Q57'],
    async run(target) {
      const { frames } = await told(target, [FINISH]);
      const states = frames.all.filter(isObservation('agent_state_changed')).map((frame) => String(extrasOf(frame).agent_state));
      for (const state of ['LOADING', 'INIT', 'RUNNING', 'FINISHED'])
        assert.ok(states.includes(state), `${state} is not among ${states.join()}`);
    },
  },
  {
    id: 'events-doc/run',
    title: '`run` has the documented arguments, its observation the documented extras and `success`',
    cites: ['I1', 'I2', 'I3', 'I4', 'I5', 'I6', 'I7', 'L1', 'L2', 'L3', 'L4', 'L5', 'L6', 'L7', 'L8', 'L9', 'L10', 'L11', 'L12', 'DL32'],
    async run(target) {
      const { frames } = await told(target, [RUN, FINISH]);
      const { args } = await frames.until('action run', isAction('run'));
      hasTypes(args, { command: 'string', is_input: 'boolean', thought: 'string', blocking: 'boolean', hidden: 'boolean' }, 'args');
      hasTypes(args, { confirmation_state: 'string', security_risk: 'number|null' }, 'args');
      const observation = await frames.until('observation run', isObservation('run'));
      hasTypes(observation, { content: 'string', success: 'boolean', cause: 'number' }, 'observation');
      const strings = {
        username: 'string',
        hostname: 'string',
        working_dir: 'string',
        py_interpreter_path: 'string',
        prefix: 'string',
        suffix: 'string',
      };
      hasTypes(extrasOf(observation).metadata, { exit_code: 'number', pid: 'number', ...strings }, 'metadata');
      hasTypes(observation.extras, { command: 'string', hidden: 'boolean' }, 'extras');
    },
  },
  {
    id: 'events-doc/cells',
    title: '`run_ipython` has `code`, `include_extra` and `kernel_init_code`, its observation the code',
    cites: ['I8', 'I9', 'I10', 'I11', 'I12', 'I13', 'L13', 'L14'],
    async run(target) {
      const { frames } = await told(target, [{ call: 'execute_ipython_cell', args: { code: 'print(6 * 7)', timeout: 60 } }, FINISH]);
      const { args } = await frames.until('action run_ipython', isAction('run_ipython'));
      hasTypes(args, { code: 'string', thought: 'string', include_extra: 'boolean', kernel_init_code: 'string' }, 'args');
      const observation = await frames.until('observation run_ipython', isObservation('run_ipython'));
      assert.match(String(observation.content), /42/);
      assert.equal(extrasOf(observation).code, 'print(6 * 7)');
    },
  },
  {
    id: 'events-doc/user-files',
    title: 'a client’s `write`, `read`, `edit` and `run` of the document’s own shape are carried out',
    cites: ['F5', 'J1', 'J2', 'J3', 'J7', 'J8', 'J13', 'J14', 'J16', 'J17', 'J24', 'M1', 'M2', 'M3', 'DL37', 'DL178', 'S5'],
    async run(target) {
      const { frames, send } = await told(target, [FINISH]);
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
    id: 'events-doc/recall',
    title: 'the recall of the workspace has the document’s names and keys',
    cites: ['H7', 'O4', 'O5', 'O6', 'O7', 'O8', 'O9', 'O10', 'O11', 'Q24', 'DL34'],
    async run(target) {
      const { frames } = await told(target, [FINISH]);
      const recall = await frames.until('recall', isObservation('recall'));
      assert.equal(extrasOf(recall).recall_type, 'environment_info');
      hasTypes(recall.extras, { repo_name: 'string', repo_directory: 'string', repo_instructions: 'string' }, 'extras');
      hasTypes(
        recall.extras,
        { runtime_hosts: 'object', additional_agent_instructions: 'string', microagent_knowledge: 'array' },
        'extras',
      );
    },
  },
  {
    id: 'events-doc/endings',
    title: '`finish` has `final_thought`, `task_completed`, `outputs` and `thought`; `reject` its reason, and the state `REJECTED`',
    cites: ['H3', 'H5', 'Q8', 'S9', 'EN136', 'Q43'],
    async run(target) {
      const finished = await told(target, [FINISH]);
      const { args } = await finished.frames.until('finish', isAction('finish'));
      hasTypes(args, { final_thought: 'string', task_completed: 'string', outputs: 'object', thought: 'string' }, 'args');
      const rejected = await told(target, [{ call: 'reject', args: { reason: 'it must not be' } }], 'REJECTED');
      const action = await rejected.frames.until('reject', isAction('reject'));
      hasTypes(argsOf(action).outputs, { reason: 'string' }, 'outputs');
    },
  },
  {
    id: 'events-doc/pause',
    title: '`change_agent_state` with `PAUSED` and `RUNNING` in the document’s case is obeyed',
    cites: ['H1', 'Q5', 'DL21', 'DL33', 'EN214', 'S1', 'Q46'],
    async run(target) {
      const peer = enter(target);
      const steps = [1, 2].map((n): ModelStep => ({ call: 'execute_bash', args: { command: `sleep 0.5; echo ${n}` } }));
      peer.send({ action: 'message', args: { content: target.script([...steps, FINISH]) } });
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
      const peer = await told(target, [FINISH]);
      const from = peer.frames.all.length;
      peer.send({ action: 'null' });
      await peer.frames.until('action null', isAction('null'), { from });
      await peer.frames.until('observation null', isObservation('null'), { from });
    },
  },
  {
    id: 'events-doc/prompt',
    title: 'what the model is told first is no chat message: nothing of the agent comes as `message` before it speaks',
    cites: ['DL179', 'DL31'],
    async run(target) {
      const { frames } = await told(target, [FINISH]);
      const { args } = await frames.until('the prompt', (frame) => isAction('null')(frame) && argsOf(frame).kind === 'system');
      hasTypes(args, { content: 'string' }, 'args');
      assert.deepEqual(
        frames.all.filter((frame) => isAction('message')(frame) && frame.source === 'agent'),
        [],
      );
    },
  },
  {
    id: 'events-doc/rejected',
    title: 'a client’s `run` that says `rejected` or `awaiting_confirmation` does not run, and is answered by `user_rejected` or `null`',
    cites: ['EN213', 'P3', 'Q17'],
    async run(target) {
      const { frames, send } = await told(target, [FINISH]);
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
    title: 'what cannot be understood is told as an `error` observation with an `error_id`',
    cites: ['P1', 'DL22', 'SV16'],
    async run(target) {
      const peer = await told(target, [FINISH]);
      const from = peer.frames.all.length;
      peer.send({ action: 'no_such_action', args: {} });
      hasTypes((await peer.frames.until('error', isObservation('error'), { from })).extras, { error_id: 'string' }, 'extras');
    },
  },
  {
    id: 'events-doc/condensation',
    title: 'a long conversation is condensed: an action `summarize`, an observation `condense`',
    cites: ['H2', 'O2', 'Q44', 'Q60', 'DL93', 'EN130'],
    async run(target) {
      const steps = Array.from({ length: 6 }, (): ModelStep => RUN);
      const peer = await told(target, [...steps, FINISH]);
      peer.send({ action: 'condensation_request', args: {} });
      hasTypes((await peer.frames.until('summarize', isAction('summarize'))).args, { summary: 'string' }, 'args');
      hasTypes(await peer.frames.until('condense', isObservation('condense')), { content: 'string' }, 'observation');
    },
  },
  {
    id: 'events-doc/delegation',
    title: 'another agent is asked: an action `delegate` with `agent`, `inputs`, `thought`; an observation with `outputs`',
    cites: ['H6', 'O12', 'Q41', 'Q58', 'EN137'],
    async run(target) {
      const part = target.script([{ call: 'finish', args: { message: 'the part is done' } }]);
      const { frames } = await told(target, [{ call: 'delegate', args: { task: part } }, FINISH]);
      hasTypes(
        (await frames.until('delegate', isAction('delegate'))).args,
        { agent: 'string', inputs: 'object', thought: 'string' },
        'args',
      );
      const report = await frames.until('the report', isObservation('delegate'));
      assert.equal(report.content, 'the part is done');
      hasTypes(report.extras, { outputs: 'object' }, 'extras');
    },
  },
  {
    id: 'events-doc/rate-limited',
    title: 'a model that asks for patience is the state `RATE_LIMITED`, and the task goes on',
    cites: ['Q10', 'EN88'],
    async run(target) {
      const peer = enter(target);
      peer.send({ action: 'message', args: { content: target.script([{ status: 429 }, FINISH]) } });
      await peer.frames.until('RATE_LIMITED', isState('RATE_LIMITED'));
      await peer.frames.until('FINISHED', isState('FINISHED'), { withinMs: 4 * target.patienceMs });
    },
  },
  {
    id: 'events-doc/download',
    title: 'a file that the browser brought is told as `success`',
    cites: ['P2', 'Q55', 'DL31'],
    async run(target) {
      const page = `data:text/html,<a id=f href="data:application/zip,bytes" download="f.zip">f</a>`;
      const { frames } = await told(target, [{ call: 'browser', args: { code: `goto('${page}')\nclick("#f")` } }, FINISH]);
      hasTypes(await frames.until('success', isObservation('success')), { content: 'string' }, 'observation');
    },
  },
  {
    id: 'events-doc/look-up',
    title: 'a later message is looked up in the knowledge there is; what finds nothing is answered by `null`',
    cites: ['EN7', 'DL36'],
    async run(target) {
      const peer = await told(target, [FINISH]);
      const from = peer.frames.all.length;
      peer.send({ action: 'message', args: { content: target.script([FINISH]) } });
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
      const { frames } = target.socketIo({ query: { conversation_id: id, latest_event_id: '-1' } });
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

/** `openhands-events.md` by its letter, as the client of a Mac would be written from it. */
export const document: readonly Check[] = CHECKS.map(strictly);
