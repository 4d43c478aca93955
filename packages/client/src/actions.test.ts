import { openhandsV0 } from '@tendon/protocol';
import { describe, expect, it } from 'vitest';
import { actions, type ActionPayload } from './actions.ts';

/** One call of every builder. */
const CALLS = {
  message: () => actions.message('hello', { imageUrls: ['data:image/png;base64,AA=='], fileUrls: ['/workspace/a'], clientId: 'x' }),
  start: () => actions.start('write a script'),
  initialize: () => actions.initialize({ model: 'gpt-4o', directory: '/projects/one', agent_cls: 'CodeActAgent' }),
  changeAgentState: () => actions.changeAgentState('paused', 'lunch'),
  pause: actions.pause,
  resume: actions.resume,
  stop: actions.stop,
  approve: actions.approve,
  reject: () => actions.reject('not on a Friday'),
  run: () => actions.run('ls', { cwd: '/workspace', hidden: true, timeout: 5 }),
  input: () => actions.input('C-c'),
  kill: () => actions.kill('3'),
  runIpython: () => actions.runIpython('1 + 1'),
  read: () => actions.read('a.txt', { start: 0, end: 3 }),
  write: () => actions.write('a.txt', 'hello'),
  edit: () => actions.edit({ path: 'a.txt', command: 'insert', insert_line: 0, new_str: 'x' }),
  browse: () => actions.browse('https://example.com'),
  browseInteractive: () => actions.browseInteractive('click("14")'),
  recall: () => actions.recall('how are tests run'),
  shortenHistory: actions.shortenHistory,
  editSummary: () => actions.editSummary(7, 'Six steps.'),
  undoCondensation: () => actions.undoCondensation(7),
  recoverFromLoop: () => actions.recoverFromLoop(1),
} satisfies Record<keyof typeof actions, () => ActionPayload>;

describe('payload builders', () => {
  it.each(Object.entries(CALLS))('CL9: %s makes a payload that the protocol accepts and a client may send', (_name, call) => {
    expect(openhandsV0.decode(JSON.parse(JSON.stringify(call())))).toMatchObject({
      type: expect.stringMatching(/^(action|start|initialize)$/),
    });
  });

  it('CL50: its own id is beside the arguments, where every server accepts or ignores it', () => {
    expect(actions.message('hi', { clientId: 'x' })).toMatchObject({ client_id: 'x', args: { content: 'hi' } });
    expect(actions.message('hi', { clientId: 'x' }).args).not.toHaveProperty('client_id');
  });

  it('CL9: what is left out is left to the server', () => {
    expect(actions.run('ls')).toEqual({ action: 'run', args: { command: 'ls' } });
    expect(actions.stop()).toEqual({ action: 'change_agent_state', args: { agent_state: 'stopped' } });
  });
});
