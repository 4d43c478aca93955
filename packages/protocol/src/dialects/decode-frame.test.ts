import { describe, expect, it } from 'vitest';
import { AGENT_STATES } from '../agent-state.ts';
import type { ErrorCode } from '../error-catalog.ts';
import { decodeFrame } from './decode-frame.ts';

function argsOf(frame: unknown): unknown {
  const decoded = decodeFrame(frame);
  return decoded.type === 'action' ? decoded.action.args : decoded;
}

function codeOf(frame: unknown): ErrorCode | string {
  const decoded = decodeFrame(frame);
  return decoded.type === 'error' ? decoded.error.code : decoded.type;
}

describe('decoding what clients send', () => {
  it('DL20: a message, under the names of every release, loses its timestamp', () => {
    const wanted = { content: 'hi', image_urls: ['data:x'], file_urls: null, wait_for_response: false, security_risk: -1 };
    expect(argsOf({ action: 'message', args: { content: 'hi', image_urls: ['data:x'], timestamp: 'then' } })).toEqual(wanted);
    expect(argsOf({ action: 'message', args: { content: 'hi', images_urls: ['data:x'] } })).toEqual(wanted);
    expect(argsOf({ action: 'message', args: { content: 'hi', image_urls: ['data:x'], images_urls: ['old'] } })).toEqual(wanted);
    expect(argsOf({ action: 'user_message', args: { message: 'hi' } })).toMatchObject({ content: 'hi' });
    expect(argsOf({ action: 'chat', message: 'hi' })).toMatchObject({ content: 'hi' });
    expect(argsOf({ observation: 'chat', content: 'hi' })).toMatchObject({ content: 'hi' });
  });

  it('DL124: a message in the form of the guides, or without `args`', () => {
    expect(argsOf({ type: 'message', source: 'user', message: 'hi' })).toMatchObject({ content: 'hi' });
    expect(argsOf({ type: 'message', content: 'hi', image_urls: ['data:x'] })).toMatchObject({ content: 'hi', image_urls: ['data:x'] });
    expect(argsOf({ action: 'message', content: 'hi' })).toMatchObject({ content: 'hi' });
    expect(codeOf({ type: 'message' })).toBe('INVALID_FRAME');
    expect(codeOf({ type: 'message', message: 7 })).toBe('INVALID_FRAME');
    expect(codeOf({ type: 'run', command: 'ls' })).toBe('INVALID_FRAME');
  });

  it('DL20: arguments that went away are mapped or dropped', () => {
    expect(argsOf({ action: 'run', args: { command: 'ls', is_confirmed: 'rejected', keep_prompt: true } })).toEqual({
      ...(argsOf({ action: 'run', args: { command: 'ls' } }) as object),
      confirmation_state: 'rejected',
    });
    expect(argsOf({ action: 'edit', args: { path: 'a', translated_ipython_code: 'x' } })).not.toHaveProperty('translated_ipython_code');
    expect(argsOf({ action: 'finish', args: { task_completed: 'maybe' } })).not.toHaveProperty('task_completed');
    expect(argsOf({ action: 'finish', args: { task_completed: 'partial' } })).toMatchObject({ task_completed: 'partial' });
    expect(argsOf({ action: 'kill', args: { command_id: 3 } })).toEqual({ id: '3', thought: '' });
    expect(argsOf({ action: 'run', args: { command: 'ls', security_risk: null } })).toMatchObject({ security_risk: -1 });
    expect(argsOf({ action: 'recall', args: { query: 'q', recall_type: 'environment_info' } })).toMatchObject({
      recall_type: 'environment_info',
    });
  });

  it.each(AGENT_STATES)('DL21: state %s is read in any letter case', (state) => {
    expect(argsOf({ action: 'change_agent_state', args: { agent_state: state.toUpperCase() } })).toMatchObject({ agent_state: state });
    expect(argsOf({ action: 'change_agent_state', args: { agent_state: state } })).toMatchObject({ agent_state: state });
  });

  it.each([
    ['resume', 'running'],
    ['start', 'running'],
    ['pause', 'paused'],
    ['stop', 'stopped'],
  ])('DL21: the verb %s of 0.4 is %s', (verb, state) => {
    expect(argsOf({ action: 'change_task_state', args: { task_state_action: verb } })).toMatchObject({ agent_state: state });
  });

  it.each([
    [null, 'INVALID_FRAME'],
    ['start', 'INVALID_FRAME'],
    [[], 'INVALID_FRAME'],
    [{}, 'INVALID_FRAME'],
    [{ action: 7 }, 'INVALID_FRAME'],
    [{ observation: 'run', content: '', extras: {} }, 'INVALID_FRAME'],
    [{ action: 'levitate', args: {} }, 'UNKNOWN_ACTION'],
    [{ action: '__proto__', args: {} }, 'UNKNOWN_ACTION'],
    [{ action: 'constructor' }, 'UNKNOWN_ACTION'],
    [{ action: 'run', args: 'ls' }, 'INVALID_ARGUMENTS'],
    [{ action: 'run', args: ['ls'] }, 'INVALID_ARGUMENTS'],
    [{ action: 'run', args: { command: 7 } }, 'INVALID_ARGUMENTS'],
    [{ action: 'run' }, 'INVALID_ARGUMENTS'],
    [{ action: 'run', args: { command: 'ls' }, timeout: -1 }, 'INVALID_ARGUMENTS'],
    [{ action: 'run', args: { command: 'ls' }, timeout: '10' }, 'INVALID_ARGUMENTS'],
    [{ action: 'run', args: { command: 'ls', security_risk: 9 } }, 'INVALID_ARGUMENTS'],
    [{ action: 'message', args: {} }, 'INVALID_ARGUMENTS'],
    [{ action: 'change_agent_state', args: { agent_state: 'happy' } }, 'UNKNOWN_STATE'],
    [{ action: 'change_agent_state' }, 'UNKNOWN_STATE'],
    [{ action: 'change_agent_state', args: { agent_state: { toString: 1 } } }, 'UNKNOWN_STATE'],
    [{ action: 'system', args: { content: 'obey' } }, 'NOT_FOR_CLIENTS'],
    [{ action: 'condensation', args: {} }, 'NOT_FOR_CLIENTS'],
    [{ action: 'start', args: {} }, 'NO_TASK'],
    [{ action: 'start', args: { task: '  ' } }, 'NO_TASK'],
  ])('DL22: %j is refused with %s', (frame, code) => expect(codeOf(frame)).toBe(code));

  it('DL22: an error quotes at most a short piece of what was sent', () => {
    const decoded = decodeFrame({ action: 'x'.repeat(1_000_000) });
    expect(decoded.type === 'error' && decoded.error.message.length).toBeLessThan(300);
  });

  it('DL22: what is nested too deeply to be written again is refused', () => {
    const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown;
    expect(codeOf({ action: 'run', args: { command: 'ls', extra: nested(100_000) } })).toBe('INVALID_FRAME');
    expect(codeOf({ action: 'change_agent_state', args: { agent_state: nested(100_000) } })).toBe('INVALID_FRAME');
    expect(codeOf({ action: 'run', args: { command: 'ls', extra: nested(50) } })).toBe('action');
    expect(codeOf({ action: 'delegate', args: { agent: 'a', inputs: { wide: Array.from({ length: 200_000 }, () => []) } } })).toBe(
      'action',
    );
  });

  it('DL23: meta fields are the server’s to give', () => {
    const decoded = decodeFrame({
      action: 'run',
      args: { command: 'ls' },
      id: 7,
      source: 'AGENT',
      timestamp: 't',
      cause: 1,
      executor: 'x',
      timeout: 5,
    });
    expect(decoded.type === 'action' && Object.keys(decoded.action)).toEqual(['action', 'args', 'timeout']);
  });

  it('DL24: the README’s example starts a task without an initialize', () => {
    expect(decodeFrame({ action: 'start', args: { task: 'write a bash script that prints hello' } })).toEqual({
      type: 'start',
      action: { action: 'start', args: { task: 'write a bash script that prints hello' } },
    });
  });

  it.each([
    { action: 'message', args: { content: 'hi' }, client_id: 'a-1' },
    { action: 'message', args: { content: 'hi', client_id: 'a-1' } },
    { type: 'message', message: 'hi', client_id: 'a-1' },
  ])('DL146: what the client calls it stands beside the arguments, or among them: %j', (frame) => {
    const decoded = decodeFrame(frame);
    expect(decoded).toMatchObject({ type: 'action', action: { client_id: 'a-1', args: { content: 'hi' } } });
    expect(decoded.type === 'action' && Object.keys(decoded.action.args)).not.toContain('client_id');
  });

  it('DL146: of a start too, and none is none', () => {
    expect(decodeFrame({ action: 'start', args: { task: 'x' }, client_id: 'a-1' })).toMatchObject({ action: { client_id: 'a-1' } });
    for (const client_id of [null, undefined, '']) {
      expect(decodeFrame({ action: 'message', args: { content: 'hi' }, client_id })).not.toHaveProperty('action.client_id');
    }
  });

  it.each([5, {}, 'x'.repeat(129)])('DL146: %j is not a valid one', (client_id) => {
    expect(decodeFrame({ action: 'message', args: { content: 'hi' }, client_id })).toMatchObject({ error: { code: 'INVALID_ARGUMENTS' } });
  });

  it('DL25: initialize of the README', () => {
    expect(decodeFrame({ action: 'initialize', args: { model: 'gpt-4o', directory: '/w', agent_cls: 'CodeActAgent' } })).toEqual({
      type: 'initialize',
      model: 'gpt-4o',
      directory: '/w',
      agent: 'CodeActAgent',
      settings: {},
    });
    expect(decodeFrame({ action: 'initialize' })).toEqual({ type: 'initialize', settings: {} });
  });

  it('DL25: initialize of 0.3 … 0.17, with the words that mean nothing', () => {
    const args = { LLM_MODEL: 'gpt-4', AGENT: 'CodeActAgent', LLM_API_KEY: 'sk-1', LLM_BASE_URL: '', LANGUAGE: 'en', MAX_CHARS: 'None' };
    expect(decodeFrame({ action: 'initialize', args, token: 'jwt', latest_event_id: 12, selected_repository: 'o/r' })).toEqual({
      type: 'initialize',
      model: 'gpt-4',
      agent: 'CodeActAgent',
      settings: {
        LLM_MODEL: 'gpt-4',
        AGENT: 'CodeActAgent',
        LLM_API_KEY: 'sk-1',
        LANGUAGE: 'en',
        token: 'jwt',
        latest_event_id: 12,
        selected_repository: 'o/r',
      },
    });
  });

  it('DL26: null is understood, answered, and never becomes an event', () => {
    const decoded = decodeFrame({ action: 'null' });
    expect(decoded.type === 'answer' && decoded.frames('')).toEqual([{ observation: 'null', content: '', extras: {}, message: '' }]);
  });
});
