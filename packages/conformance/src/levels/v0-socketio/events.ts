import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { isState, type Frame } from '../../target/frames.ts';
import { hasTypes } from '../shapes.ts';
import { actionIn, join, joinNew, observationIn, turn } from './join.ts';

const ZONE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/;

const META = { id: 'number', timestamp: 'string', source: 'string', message: 'string' };

/** What events look like. */
export const events: readonly Check[] = [
  {
    id: 'v0-socketio/run-event',
    title: 'a command is an action `run` and an observation `run` that names it as its cause, with exit code and metadata',
    cites: ['F2', 'G1', 'G2', 'G3', 'G4', 'G5', 'G6', 'G7', 'DL3', 'RT20', 'RT33', 'Q32', 'Q48'],
    shares: 'talk',
    async run(target) {
      const ready = await target.shared(joinNew);
      const frames = await turn(target, ready, [
        { call: 'execute_bash', args: { command: 'echo conformance; (exit 3)' }, text: 'a thought' },
      ]);
      const action = actionIn(frames, 'run');
      hasTypes(action, META, 'action');
      assert.equal(action.source, 'agent');
      assert.match(String(action.timestamp), ZONE);
      hasTypes(action.args, { command: 'string', thought: 'string', is_input: 'boolean', blocking: 'boolean', hidden: 'boolean' }, 'args');
      hasTypes(action.args, { confirmation_state: 'string', security_risk: 'number', cwd: 'null|string', is_static: 'boolean' }, 'args');
      const observation = observationIn(frames, 'run');
      hasTypes(observation, { ...META, cause: 'number', content: 'string', extras: 'object', success: 'boolean' }, 'observation');
      assert.equal(observation.cause, action.id);
      assert.equal(observation.success, false);
      const extras = observation.extras as Frame;
      hasTypes(extras, { command: 'string', metadata: 'object', hidden: 'boolean' }, 'extras');
      hasTypes(extras.metadata, { exit_code: 'number', pid: 'number', prefix: 'string', suffix: 'string' }, 'metadata');
      hasTypes(extras.metadata, { username: 'string|null', hostname: 'string|null', working_dir: 'string|null' }, 'metadata');
      assert.equal((extras.metadata as Frame).exit_code, 3);
    },
  },
  {
    id: 'v0-socketio/tool-call',
    title: 'action and observation of a tool call carry `tool_call_metadata`, and actions carry `llm_metrics`',
    cites: ['G8', 'DL3'],
    shares: 'talk',
    async run(target) {
      const frames = await turn(target, await target.shared(joinNew), [{ call: 'execute_bash', args: { command: 'true' } }]);
      for (const event of [actionIn(frames, 'run'), observationIn(frames, 'run')]) {
        hasTypes(
          event.tool_call_metadata,
          { function_name: 'string', tool_call_id: 'string', total_calls_in_response: 'number' },
          'tool_call_metadata',
        );
      }
      hasTypes(actionIn(frames, 'run').llm_metrics, { accumulated_cost: 'number', accumulated_token_usage: 'object' }, 'llm_metrics');
    },
  },
  {
    id: 'v0-socketio/answer-with-calls',
    title: 'each event of an answer with several calls names the answer and its own call, also to a client that begins among them',
    cites: ['G8', 'DL170', 'EN81'],
    shares: 'talk',
    async run(target) {
      const ready = await target.shared(joinNew);
      const calls = ['echo one', 'echo two'].map((command) => ({ call: 'execute_bash', args: { command } }));
      const live = (await turn(target, ready, [{ text: 'both', calls }])).filter(({ tool_call_metadata: call }) => call);
      assert.equal(live.length, 4, `${live.length} events came of two calls`);
      const late = join(target, ready.id, { after: Number(live[0]!.id) });
      await late.frames.until('the last of them', ({ id }) => id === live.at(-1)!.id);
      for (const frame of [...live, ...late.frames.all.filter(({ tool_call_metadata: call }) => call)]) namesItsCall(frame);
    },
  },
  {
    id: 'v0-socketio/edit-event',
    title: 'files are made, edited and viewed with `edit` and `read`: old and new content, a diff, the path',
    cites: ['D8', 'DL2', 'RT60', 'RT63', 'RT65'],
    shares: 'talk',
    async run(target) {
      const path = '/tmp/conformance-edit.txt';
      const editor = (args: object): { call: string; args: Readonly<Record<string, unknown>> } => ({
        call: 'str_replace_editor',
        args: { path, ...args },
      });
      const frames = await turn(target, await target.shared(joinNew), [
        { call: 'execute_bash', args: { command: `rm -f ${path}` } },
        editor({ command: 'create', file_text: 'one\ntwo\n' }),
        editor({ command: 'str_replace', old_str: 'two', new_str: 'three' }),
        editor({ command: 'view' }),
      ]);
      const edits = frames.filter(({ observation }) => observation === 'edit');
      assert.equal(edits.length, 2);
      hasTypes(
        edits[1]!.extras,
        { path: 'string', prev_exist: 'boolean', old_content: 'string', new_content: 'string', impl_source: 'string' },
        'extras',
      );
      assert.partialDeepStrictEqual(edits[1]!.extras, { path, prev_exist: true, old_content: 'one\ntwo\n', new_content: 'one\nthree\n' });
      const read = observationIn(frames, 'read');
      assert.match(String(read.content), /one[\s\S]*three/);
      assert.equal((read.extras as Frame).path, path);
    },
  },
  {
    id: 'v0-socketio/ipython-event',
    title: 'a cell is `run_ipython` with its output, state stays between cells',
    cites: ['D7', 'RT101', 'RT103', 'DL2'],
    shares: 'kernel',
    async run(target) {
      const frames = await turn(target, await target.shared(joinNew), [
        { call: 'execute_ipython_cell', args: { code: 'answer = 6 * 7', timeout: 60 } },
        { call: 'execute_ipython_cell', args: { code: 'print(answer)', timeout: 60 } },
      ]);
      const cells = frames.filter(({ observation }) => observation === 'run_ipython');
      assert.equal(cells.length, 2);
      assert.match(String(cells[1]!.content), /42/);
      hasTypes(cells[1]!.extras, { code: 'string' }, 'extras');
    },
  },
  {
    id: 'v0-socketio/think-event',
    title: 'a thought is an action `think` and is answered by an observation `think`',
    cites: ['B12', 'H4', 'DL2', 'O3', 'Q40', 'Q59'],
    async run(target) {
      const frames = await turn(target, await joinNew(target), [{ call: 'think', args: { thought: 'a plan' } }]);
      assert.equal((actionIn(frames, 'think').args as Frame).thought, 'a plan');
      assert.equal(observationIn(frames, 'think').cause, actionIn(frames, 'think').id);
    },
  },
  {
    id: 'v0-socketio/finish-event',
    title: '`finish` ends the turn: its words in `args.final_thought`, then the state `finished`',
    cites: ['B13', 'H3', 'DL15', 'AS1', 'Q42'],
    async run(target) {
      const frames = await turn(target, await joinNew(target), [
        { call: 'finish', args: { message: 'all is done', task_completed: 'true' } },
      ]);
      assert.equal((actionIn(frames, 'finish').args as Frame).final_thought, 'all is done');
      assert.ok(frames.some(isState('finished')), 'the state did not become finished');
    },
  },
  {
    id: 'v0-socketio/message-event',
    title: "a user's message comes back with source `user`, the agent's words with source `agent` and `wait_for_response`",
    cites: ['G3', 'H1', 'DL2', 'SV16', 'Q39'],
    async run(target) {
      const frames = await turn(target, await joinNew(target), [{ text: 'what is it to be?' }]);
      const [echo, words] = frames.filter(({ action }) => action === 'message');
      assert.equal(echo?.source, 'user');
      hasTypes(echo, META, 'message');
      assert.equal(words?.source, 'agent');
      assert.partialDeepStrictEqual(words?.args, { content: 'what is it to be?', wait_for_response: true });
    },
  },
  {
    id: 'v0-socketio/system-event',
    title: 'the system prompt is an event with the tools and the name of the agent',
    cites: ['T1', 'DL2'],
    async run(target) {
      const { peer } = await joinNew(target);
      const system = actionIn(peer.frames.all, 'system');
      hasTypes(
        system.args,
        { content: 'string', tools: 'array|null', agent_class: 'string|null', openhands_version: 'string|null' },
        'args',
      );
    },
  },
  {
    id: 'v0-socketio/recall-event',
    title: 'the first message is followed by a recall of the workspace with its observation',
    cites: ['H7', 'EN122', 'DL2'],
    async run(target) {
      const frames = await turn(target, await joinNew(target), [{ text: 'hello' }]);
      const recall = observationIn(frames, 'recall');
      hasTypes(recall.extras, { recall_type: 'string', microagent_knowledge: 'array', runtime_hosts: 'object', date: 'string' }, 'extras');
    },
  },
];

function namesItsCall({ tool_call_metadata }: Frame): void {
  const { tool_call_id: own, model_response: answer } = tool_call_metadata as { tool_call_id: string; model_response: Frame };
  hasTypes(answer, { id: 'string', model: 'string', choices: 'array' }, 'model_response');
  const { message } = (answer.choices as readonly { message: { tool_calls: readonly { id: string; function: Frame }[] } }[])[0]!;
  const call = message.tool_calls.find(({ id }) => id === own);
  assert.ok(call, `no call ${own} in ${JSON.stringify(message).slice(0, 300)}`);
  assert.match(String((JSON.parse(String(call.function.arguments)) as Frame).command), /^echo (one|two)$/);
}
