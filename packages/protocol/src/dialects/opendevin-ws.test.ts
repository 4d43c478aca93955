import { describe, expect, it } from 'vitest';
import { fromJson } from '../codec.ts';
import { catalogError } from '../error-catalog.ts';
import type { Phase } from './dialect.ts';
import { opendevinWs } from './opendevin-ws.ts';

function encode(body: Readonly<Record<string, unknown>>, source = 'agent', phase: Phase = 'live') {
  return opendevinWs.encode(fromJson({ ...body, id: 5, timestamp: '2026-11-21T10:00:00.000Z', source }), phase);
}

function state(agent_state: string, reason = '') {
  return encode({ observation: 'agent_state_changed', extras: { agent_state, reason } });
}

describe('what a client of spring 2024 sees', () => {
  it('DL13: is greeted as the first servers did', () => {
    expect(opendevinWs.greeting).toEqual([{ action: 'initialize', message: 'Control loop started.' }]);
  });

  it('DL10: a page is shown as its HTML, which those clients show', () => {
    const extras = { url: 'http://x', html: '<h1>X</h1>', screenshot: '', error: false };
    expect(encode({ observation: 'browse', content: '# X', extras })[0]).toMatchObject({ observation: 'browse', content: '<h1>X</h1>' });
  });

  it('DL14: a command and its result, with the flat exit code', () => {
    expect(encode({ action: 'run', args: { command: 'ls' } })).toEqual([
      { action: 'run', args: { command: 'ls', background: false }, message: 'Running command: ls' },
    ]);
    const extras = { command: 'ls', metadata: { exit_code: 2 } };
    expect(encode({ observation: 'run', content: 'no', extras }, 'environment')).toMatchObject([
      { observation: 'run', content: 'no', extras: { command_id: -1, command: 'ls', exit_code: 2, metadata: { exit_code: 2 } } },
    ]);
  });

  it('DL15: a thought beside an action comes before it, as a think', () => {
    expect(encode({ action: 'read', args: { path: 'a', thought: 'Let me see.' } })).toMatchObject([
      { action: 'think', args: { thought: 'Let me see.' }, message: 'Let me see.' },
      { action: 'read', args: { path: 'a' } },
    ]);
  });

  it('DL15, DL182: what the agent says is a think, and its last words an end', () => {
    expect(encode({ action: 'message', args: { content: 'Which file?', wait_for_response: true } })).toEqual([
      { action: 'think', args: { thought: 'Which file?' }, message: 'Which file?' },
      { action: 'finish', args: {}, message: 'The agent waits for your answer.' },
    ]);
  });

  it('DL16: an edit is shown before and becomes a write with the new content after', () => {
    const args = { path: '/workspace/a', command: 'str_replace', old_str: 'one', new_str: 'two' };
    expect(encode({ action: 'edit', args })).toMatchObject([{ action: 'think', args: { thought: expect.stringContaining('two') } }]);
    expect(encode({ observation: 'edit', content: 'ok', extras: { path: '/workspace/a', new_content: 'two' } })).toMatchObject([
      { action: 'write', args: { path: 'a', content: 'two' } },
      { observation: 'write', content: 'ok', extras: { path: 'a' } },
    ]);
    expect(encode({ action: 'edit', args: { path: '/workspace/a', command: 'view' } })).toMatchObject([{ action: 'read' }]);
  });

  it('DL17: the client’s own words are answered live and shown in a replay', () => {
    const message = { action: 'message', args: { content: 'go' } };
    expect(encode(message, 'user')).toEqual([{ message: 'Starting new task...' }]);
    expect(encode({ action: 'start', args: { task: 'go' } }, 'user')).toEqual([{ message: 'Starting new task...' }]);
    expect(encode(message, 'user', 'replay')).toEqual([{ observation: 'chat', content: 'go', extras: {}, message: 'go' }]);
  });

  it('DL18: states are not events there; what a person must know is shown in the chat', () => {
    expect(state('running')).toEqual([]);
    expect(state('finished')).toEqual([]);
    expect(state('error', 'no key')).toEqual([{ error: true, message: expect.stringContaining('no key') }]);
    expect(state('stopped')).toEqual([{ message: 'The agent has stopped.' }]);
  });

  it('DL18: finish is the one sign of the end, after the last words', () => {
    expect(encode({ action: 'finish', args: { final_thought: 'It prints hello.' } })).toMatchObject([
      { action: 'think', args: { thought: 'It prints hello.' } },
      { action: 'finish', args: {} },
    ]);
  });

  it('DL19: results of later kinds are shown in the chat', () => {
    expect(encode({ observation: 'mcp', content: 'ok', extras: {} })).toEqual([
      { observation: 'message', content: 'ok', extras: { role: 'assistant' }, message: 'ok' },
    ]);
  });

  it('DL9: an unknown kind comes without the fields of later generations', () => {
    expect(encode({ action: 'levitate', args: { height: 2 }, cause: 3, executor: 'inside' })).toEqual([
      { action: 'levitate', args: { height: 2 } },
    ]);
  });

  it('DL12: errors and failing statuses are error frames; a screenshot is bare base64', () => {
    expect(opendevinWs.encodeError(catalogError('INVALID_JSON'), 't')).toEqual({ error: true, message: 'Invalid JSON' });
    expect(opendevinWs.encodeVolatile({ volatile: 'status', type: 'error', message: 'no sandbox' })).toEqual([
      { error: true, message: 'no sandbox' },
    ]);
    expect(opendevinWs.encodeVolatile({ volatile: 'status', type: 'info', message: '' })).toEqual([]);
    const extras = { url: 'https://example.com', screenshot: 'data:image/png;base64,AAAA' };
    expect(encode({ observation: 'browse', content: '', extras })[0]).toMatchObject({
      extras: { screenshot: 'AAAA', status_code: 200, error: false },
    });
  });
});
