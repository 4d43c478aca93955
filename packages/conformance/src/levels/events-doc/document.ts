import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { argsOf, extrasOf, isAction, isObservation } from '../../target/frames.ts';
import type { ModelStep } from '../../model/model-step.ts';
import { hasTypes } from '../shapes.ts';
import { enter, FINISH, isState, RUN, strictly, playSteps } from './document-client.ts';
import { kindOf } from './letter.ts';

const CHECKS: readonly Check[] = [
  {
    id: 'events-doc/base',
    title: 'every event has the base of the document: time in whole seconds with `Z`, source, message, and an id or none',
    cites: ['G1', 'G2', 'G3', 'G4', 'G5', 'DL35', 'DL36', 'Q14', 'Q15', 'Q16'],
    async run(target) {
      const { frames } = await playSteps(target, [RUN, FINISH]);
      for (const frame of frames.all) hasTypes(frame, { timestamp: 'string', source: 'string', message: 'string' }, 'event');
    },
  },
  {
    id: 'events-doc/kinds',
    title: 'every event is one of the sixteen actions or fifteen observations, with `args` or `content` and `extras`',
    cites: ['F1', 'G6', 'G7', 'DL31', 'A11'],
    async run(target) {
      const { frames } = await playSteps(target, [RUN, { call: 'think', args: { thought: 't' } }, FINISH]);
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
      const { frames } = await playSteps(target, [FINISH]);
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
      const { frames } = await playSteps(target, [RUN, FINISH]);
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
      const { frames } = await playSteps(target, [{ call: 'execute_ipython_cell', args: { code: 'print(6 * 7)', timeout: 60 } }, FINISH]);
      const { args } = await frames.until('action run_ipython', isAction('run_ipython'));
      hasTypes(args, { code: 'string', thought: 'string', include_extra: 'boolean', kernel_init_code: 'string' }, 'args');
      const observation = await frames.until('observation run_ipython', isObservation('run_ipython'));
      assert.match(String(observation.content), /42/);
      assert.equal(extrasOf(observation).code, 'print(6 * 7)');
    },
  },
  {
    id: 'events-doc/recall',
    title: 'the recall of the workspace has the document’s names and keys',
    cites: ['H7', 'O4', 'O5', 'O6', 'O7', 'O8', 'O9', 'O10', 'O11', 'Q24', 'DL34'],
    async run(target) {
      const { frames } = await playSteps(target, [FINISH]);
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
      const finished = await playSteps(target, [FINISH]);
      const { args } = await finished.frames.until('finish', isAction('finish'));
      hasTypes(args, { final_thought: 'string', task_completed: 'string', outputs: 'object', thought: 'string' }, 'args');
      const rejected = await playSteps(target, [{ call: 'reject', args: { reason: 'it must not be' } }], 'REJECTED');
      const action = await rejected.frames.until('reject', isAction('reject'));
      hasTypes(argsOf(action).outputs, { reason: 'string' }, 'outputs');
    },
  },
  {
    id: 'events-doc/prompt',
    title: 'the system prompt is no chat message: nothing of the agent comes as `message` before it speaks',
    cites: ['DL179', 'DL31'],
    async run(target) {
      const { frames } = await playSteps(target, [FINISH]);
      const { args } = await frames.until('the prompt', (frame) => isAction('null')(frame) && argsOf(frame).kind === 'system');
      hasTypes(args, { content: 'string' }, 'args');
      assert.deepEqual(
        frames.all.filter((frame) => isAction('message')(frame) && frame.source === 'agent'),
        [],
      );
    },
  },
  {
    id: 'events-doc/condensation',
    title: 'a long conversation is condensed: an action `summarize`, an observation `condense`',
    cites: ['H2', 'O2', 'Q44', 'Q60', 'DL93', 'EN130'],
    async run(target) {
      const steps = Array.from({ length: 6 }, (): ModelStep => RUN);
      const peer = await playSteps(target, [...steps, FINISH]);
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
      const part = target.model.script([{ call: 'finish', args: { message: 'the part is done' } }]);
      const { frames } = await playSteps(target, [{ call: 'delegate', args: { task: part } }, FINISH]);
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
    title: 'a rate limit of the model is the state `RATE_LIMITED`, and the task goes on',
    cites: ['Q10', 'EN88'],
    async run(target) {
      const peer = await enter(target);
      peer.send({ action: 'message', args: { content: target.model.script([{ status: 429 }, FINISH]) } });
      await peer.frames.until('RATE_LIMITED', isState('RATE_LIMITED'));
      await peer.frames.until('FINISHED', isState('FINISHED'), { withinMs: 4 * target.server.timeoutMs });
    },
  },
  {
    id: 'events-doc/download',
    title: 'a file that the browser brought is sent as `success`',
    cites: ['P2', 'Q55', 'DL31'],
    async run(target) {
      const page = `data:text/html,<a id=f href="data:application/zip,bytes" download="f.zip">f</a>`;
      const { frames } = await playSteps(target, [{ call: 'browser', args: { code: `goto('${page}')\nclick("#f")` } }, FINISH]);
      hasTypes(await frames.until('success', isObservation('success')), { content: 'string' }, 'observation');
    },
  },
];

/** What `openhands-events.md` shows, read literally, as the author of a Mac client would read it. */
export const document: readonly Check[] = CHECKS.map(strictly);
