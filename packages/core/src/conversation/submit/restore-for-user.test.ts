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
});
