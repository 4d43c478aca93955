import { describe, expect, it } from 'vitest';
import { fromJson } from '../../codec.ts';
import { AGENT_STATES } from '../../agent-state.ts';
import type { Phase } from '../dialect.ts';
import { WS_DIALECTS } from '../opendevin-ws.ts';
import type { WsGeneration } from './detect-generation.ts';

function encode(generation: WsGeneration, body: Readonly<Record<string, unknown>>, source = 'agent', phase: Phase = 'live') {
  return WS_DIALECTS[generation].encode(fromJson({ ...body, id: 5, timestamp: '2026-11-21T10:00:00.000Z', source }), phase);
}

const STATE = (agent_state: string, reason = '') => ({ observation: 'agent_state_changed', extras: { agent_state, reason } });
const MESSAGE = { action: 'message', args: { content: 'go' } };

describe.each(['opendevin-2024-06', 'opendevin-2024-07', 'opendevin-2024-11'] as const)('%s', (generation) => {
  it('DL62: a person’s message is replayed and not echoed; the output of their command is sent', () => {
    expect(encode(generation, MESSAGE, 'user')).toEqual([]);
    expect(encode(generation, MESSAGE, 'user', 'replay')).toMatchObject([{ source: 'user', action: 'message', args: { content: 'go' } }]);
    expect(encode(generation, { action: 'run', args: { command: 'ls' } }, 'user')).toEqual([]);
    const output = { observation: 'run', content: 'a', extras: { command: 'ls', metadata: { exit_code: 0 } } };
    expect(encode(generation, output, 'user')).toMatchObject([{ source: 'user', extras: { exit_code: 0 } }]);
  });

  it('DL63: states are live only, and the state of now has no id', () => {
    expect(encode(generation, STATE('running'), 'environment')).toMatchObject([
      { id: 5, source: 'agent', extras: { agent_state: 'running' } },
    ]);
    expect(encode(generation, STATE('running'), 'environment', 'replay')).toEqual([]);
    const [frame] = WS_DIALECTS[generation].announce('init', 't');
    expect(frame).toMatchObject({ observation: 'agent_state_changed', content: '', message: '', extras: { agent_state: 'init' } });
    expect(frame).not.toHaveProperty('id');
    for (const phase of ['live', 'replay'] as const) {
      expect(encode(generation, { action: 'change_agent_state', args: { agent_state: 'paused' } }, 'user', phase)).toEqual([]);
      expect(encode(generation, { observation: 'null', content: '', extras: {} }, 'agent', phase)).toEqual([]);
    }
  });

  it('DL64: a failure’s reason is shown next to the state', () => {
    expect(encode(generation, STATE('error', 'no key'))).toMatchObject([
      { extras: { agent_state: 'error' } },
      { error: true, message: expect.stringContaining('no key') as string },
    ]);
    expect(encode(generation, STATE('rate_limited'))).toMatchObject([{ extras: { agent_state: 'running' } }]);
  });

  it('DL65: an edit becomes a write with the new content', () => {
    const edit = { observation: 'edit', content: 'ok', extras: { path: '/workspace/a', new_content: 'two' } };
    expect(encode(generation, edit)).toMatchObject([
      { id: 5, action: 'write', args: { path: '/workspace/a', content: 'two' } },
      { id: 5, observation: 'write', content: 'ok' },
    ]);
  });

  it('DL66: thoughts come before where nobody would see them; the last words finish', () => {
    expect(encode(generation, { action: 'read', args: { path: 'a', thought: 'Look.' } })).toMatchObject([
      { action: 'message', args: { content: 'Look.', images_urls: null, wait_for_response: false } },
      { action: 'read', args: { thought: 'Look.' } },
    ]);
    expect(encode(generation, { action: 'run', args: { command: 'ls', thought: 'Look.' } })).toMatchObject([
      { args: { thought: 'Look.' } },
    ]);
    expect(encode(generation, { action: 'finish', args: { final_thought: 'It works.' } })).toMatchObject([{ message: 'It works.' }]);
  });

  it('DL68: what waits for a confirmation says so', () => {
    const waiting = { action: 'run', args: { command: 'rm x', confirmation_state: 'awaiting_confirmation' } };
    expect(encode(generation, waiting)).toMatchObject([{ args: { is_confirmed: 'awaiting_confirmation' } }]);
  });
});

describe('states and progress of their time', () => {
  it('DL64: opendevin-2024-06 gets no state that 0.6 did not know', () => {
    const known = ['loading', 'init', 'running', 'awaiting_user_input', 'paused', 'stopped', 'finished', 'error'];
    for (const state of AGENT_STATES) {
      const [live] = encode('opendevin-2024-06', STATE(state));
      const [now] = WS_DIALECTS['opendevin-2024-06'].announce(state, 't');
      for (const frame of [live, now]) expect(known).toContain((frame!.extras as { agent_state: string }).agent_state);
    }
    expect(encode('opendevin-2024-07', STATE('awaiting_user_confirmation'))).toMatchObject([
      { extras: { agent_state: 'awaiting_user_confirmation' } },
    ]);
  });

  it('DL67: progress', () => {
    const starting = { volatile: 'status', type: 'info', id: 'STATUS$STARTING_RUNTIME', message: '' } as const;
    expect(WS_DIALECTS['opendevin-2024-06'].encodeVolatile(starting)).toEqual([]);
    expect(WS_DIALECTS['opendevin-2024-07'].encodeVolatile(starting)).toEqual([]);
    expect(WS_DIALECTS['opendevin-2024-11'].encodeVolatile(starting)).toEqual([
      { status_update: true, type: 'info', id: 'STATUS$STARTING_RUNTIME', message: '' },
    ]);
    const failed = { volatile: 'status', type: 'error', message: 'no sandbox' } as const;
    for (const name of ['opendevin-2024-05', 'opendevin-2024-06', 'opendevin-2024-07'] as const)
      expect(WS_DIALECTS[name].encodeVolatile(failed)).toEqual([{ error: true, message: 'no sandbox' }]);
    expect(WS_DIALECTS['opendevin-2024-07'].encodeVolatile({ ...failed, type: 'info', conversation_title: 'x' })).toEqual([]);
  });

  it.each([
    'opendevin-2024-03',
    'opendevin-2024-04',
    'opendevin-2024-05',
    'opendevin-2024-06',
    'opendevin-2024-07',
    'opendevin-2024-11',
  ] as const)('DL64: to %s a failure is reported once', (generation) => {
    const failure = { ...STATE('error', 'STATUS$ERROR_LLM_AUTHENTICATION'), content: 'The key is wrong.' };
    const bubbles = (phase: Phase) => encode(generation, failure, 'environment', phase).filter(({ error }) => error === true);
    expect(bubbles('live')).toEqual([]);
    const isHidden = generation >= 'opendevin-2024-06';
    expect(bubbles('replay')).toEqual(isHidden ? [] : [{ error: true, message: 'The agent has stopped with an error: The key is wrong.' }]);
  });

  it.each([
    'opendevin-2024-03',
    'opendevin-2024-04',
    'opendevin-2024-05',
    'opendevin-2024-06',
    'opendevin-2024-07',
    'opendevin-2024-11',
  ] as const)('DL182: to %s the end after words is sent once', (generation) => {
    const log = [
      { action: 'message', args: { content: 'It prints hello.', wait_for_response: true } },
      STATE('awaiting_user_input'),
      { action: 'message', args: { content: 'I go on.', wait_for_response: false } },
      { action: 'finish', args: { final_thought: 'Done.' } },
      STATE('finished'),
    ];
    const frames = log.map((json) => encode(generation, json, 'observation' in json ? 'environment' : 'agent', 'live'));
    const finishes = frames.map((shown) => shown.filter(({ action }) => action === 'finish').length);
    const hasStates = generation >= 'opendevin-2024-05';
    expect(finishes).toEqual([hasStates ? 0 : 1, 0, 0, 1, 0]);
    expect(frames[0]!.at(-1)).toMatchObject(hasStates ? { message: 'It prints hello.' } : { action: 'finish', args: {} });
    expect(frames[1]).toHaveLength(hasStates ? 1 : 0);
  });

  it.each(['opendevin-2024-06', 'opendevin-2024-07', 'opendevin-2024-11'] as const)(
    'DL187, DL188: what the terminal and the notebook of %s can show',
    (generation) => {
      const image = 'data:image/png;base64,AAAA';
      const cell = { observation: 'run_ipython', content: '[An image.]', extras: { code: 'plot()', image_urls: [image] } };
      expect(encode(generation, cell)).toMatchObject([{ content: `![image](${image})` }]);
      const run = { observation: 'run', content: 'one\ntwo', extras: { command: 'ls', metadata: { exit_code: 0 } } };
      expect(encode(generation, run)).toMatchObject([{ content: generation === 'opendevin-2024-11' ? 'ls\r\none\r\ntwo' : 'one\r\ntwo' }]);
      expect(encode(generation, run, 'user')).toMatchObject([{ content: 'one\r\ntwo' }]);
    },
  );

  it.each(['opendevin-2024-03', 'opendevin-2024-04', 'opendevin-2024-05'] as const)(
    'DL193: paths of %s begin in the workspace',
    (generation) => {
      const args = { path: '/workspace/src/a.py', content: 'one' };
      expect(encode(generation, { action: 'write', args })).toMatchObject([{ action: 'write', args: { path: 'src/a.py' } }]);
      const edit = { observation: 'edit', content: 'ok', extras: { path: '/workspace/src/a.py', new_content: 'two' } };
      expect(encode(generation, edit)).toMatchObject([{ args: { path: 'src/a.py' } }, { extras: { path: 'src/a.py' } }]);
      expect(encode(generation, { action: 'read', args: { path: '/workspace' } })).toMatchObject([{ args: { path: '.' } }]);
      expect(encode(generation, { action: 'read', args: { path: '/etc/hosts' } })).toMatchObject([{ args: { path: '/etc/hosts' } }]);
      // It breaks the file tree of 0.3 to 0.5.
      const outside = encode(generation, { action: 'write', args: { path: '/tmp/a.py', content: 'one' } });
      expect(outside).toHaveLength(generation === 'opendevin-2024-03' ? 1 : 0);
      expect(encode(generation, { ...edit, extras: { ...edit.extras, path: '/workspaces/a.py' } })).toHaveLength(
        generation === 'opendevin-2024-03' ? 2 : 0,
      );
    },
  );

  it('DL70: opendevin-2024-05 has task states, talk and thoughts', () => {
    expect(encode('opendevin-2024-05', STATE('running'))).toEqual([
      { action: 'change_task_state', args: { task_state: 'running', thought: '' }, message: 'Task state changed to running' },
    ]);
    expect(WS_DIALECTS['opendevin-2024-05'].announce('init', 't')).toMatchObject([{ args: { task_state: 'init' } }]);
    expect(encode('opendevin-2024-05', MESSAGE)).toEqual([{ action: 'talk', args: { content: 'go', thought: '' }, message: 'go' }]);
    expect(encode('opendevin-2024-05', { action: 'run', args: { command: 'ls', thought: 'Look.' } })).toEqual([
      { action: 'run', args: { command: 'ls', background: false, thought: 'Look.' }, message: 'Running command: ls' },
    ]);
  });

  it('DL71: opendevin-2024-05 is sent the state, not that a task starts', () => {
    expect(encode('opendevin-2024-05', MESSAGE, 'user')).toEqual([]);
    expect(encode('opendevin-2024-04', MESSAGE, 'user')).toEqual([{ message: 'Starting new task...' }]);
  });
});
