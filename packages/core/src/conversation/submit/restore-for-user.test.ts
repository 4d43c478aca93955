import { isAction, isObservation, RestoreCheckpointAction } from '@tendon/protocol';
import { describe, expect, it } from 'vitest';
import { stage } from '../conversation.test-support.ts';

const bash = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });
const DONE = { toolCalls: [{ name: 'finish', arguments: { message: 'done' } }] };

describe('restoring a checkpoint', () => {
  it('CK722: is refused while the agent works', async () => {
    const { conversation, say, untilOutput } = await stage({ script: [bash('echo begun; sleep 100')] });
    await say('go');
    await untilOutput('begun');
    const result = await conversation.submit(RestoreCheckpointAction.create({ checkpoint: 1 }));
    expect(result).toMatchObject({ ok: false, error: { code: 'ILLEGAL_STATE' } });
  });

  it('CK722: restores the files, and not the conversation, where that was condensed', async () => {
    const steps = Array.from({ length: 8 }, (_, step) => bash(`echo ${step}`));
    const { conversation, say, submit, until, untilState } = await stage({ script: [...steps, DONE, { text: 'in short' }] });
    await say('go');
    await untilState('finished');
    await submit({ action: 'condensation_request', args: {} } as never);
    await until((event) => isObservation(event) && event.observation === 'condense');
    const whole = await conversation.submit(RestoreCheckpointAction.create({ checkpoint: 1 }));
    expect(whole).toMatchObject({ ok: false, error: { code: 'ILLEGAL_STATE', message: expect.stringContaining('condensed') as string } });
    const files = await conversation.submit(RestoreCheckpointAction.create({ checkpoint: 1, what: 'files' }));
    expect(files).toMatchObject({ ok: true, event: { action: 'restore_checkpoint', args: { checkpoint: 1, what: 'files', from: -1 } } });
  });

  it('CK720: of an answer with several steps the whole goes, and the files are those before the first', async () => {
    const script = [{ toolCalls: ['echo 1', 'echo 2'].map((command) => ({ name: 'execute_bash', arguments: { command } })) }, DONE];
    const { conversation, say, events, untilState } = await stage({ script });
    await say('go');
    await untilState('finished');
    const first = (await events()).find((event) => isAction(event) && event.action === 'run')!;
    const result = await conversation.submit(RestoreCheckpointAction.create({ checkpoint: 2 }));
    expect(result).toMatchObject({ ok: true, event: { args: { checkpoint: 1, what: 'both', from: first.id } } });
  });

  it('CK725: the conversation goes on from before a message or a step that is named, whatever step the checkpoint belongs to', async () => {
    const script = [bash('true'), { text: 'looked' }, bash('echo 1 > made'), { text: 'made' }];
    const { conversation, say, events, until, untilState } = await stage({ script });
    await say('look');
    const looked = await untilState('awaiting_user_input');
    const restored = async (args: { checkpoint: number; what?: 'conversation'; from: number }) =>
      conversation.submit(RestoreCheckpointAction.create(args));
    await say('make');
    await untilState('awaiting_user_input', looked.id + 1);
    const all = await events();
    const message = all.findLast((event) => isAction(event) && event.source === 'user' && event.action === 'message');
    const step = all.findLast((event) => isAction(event) && event.action === 'run');
    const refused = { ok: false, error: { code: 'INVALID_ARGUMENTS', message: expect.stringContaining('neither a message') as string } };
    expect(await restored({ checkpoint: 1, from: step!.id + 1 })).toMatchObject(refused);
    expect(await restored({ checkpoint: 1, from: 9_999 })).toMatchObject(refused);
    expect(await restored({ checkpoint: 1, from: step!.id })).toMatchObject({
      ok: true,
      event: { args: { checkpoint: 1, from: step!.id } },
    });
    await until((event) => isObservation(event) && event.cause! > looked.id && event.source === 'user');
    // Of the conversation alone no checkpoint is needed.
    expect(await restored({ checkpoint: 99, what: 'conversation', from: message!.id })).toMatchObject({
      ok: true,
      event: { args: { what: 'conversation', from: message!.id } },
    });
  });
});
