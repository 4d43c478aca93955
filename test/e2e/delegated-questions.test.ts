/** What a delegated agent waits for, through a kill of the server, answered in the conversation at the root. */
import { startScriptedModel } from '@tendon/conformance';
import type { DelegatedQuestions } from '@tendon/protocol';
import { TendonProcess } from '@tendon/testing/servers';
import { expect, it, onTestFinished } from 'vitest';

it('EN940, EN941: an approval and a question outlive a kill, and are answered at the root', async () => {
  const model = await startScriptedModel();
  onTestFinished(() => model.close());
  const tendon = await TendonProcess.start({
    LLM_MODEL: 'openai/gpt-4o',
    LLM_API_KEY: 'key-of-no-one',
    LLM_BASE_URL: model.url,
    SECURITY_CONFIRMATION_MODE: 'true',
  });
  onTestFinished(() => tendon.remove());
  const headers = { 'content-type': 'application/json' };
  const part = model.script([
    { call: 'execute_bash', args: { command: 'echo part > part.txt' } },
    { call: 'ask_user', args: { question: 'Which colour?', choices: ['red', 'blue'] } },
    { call: 'finish', args: { message: 'the part is done' } },
  ]);
  const whole = model.script([
    { call: 'delegate', args: { task: part } },
    { call: 'finish', args: { message: 'all is done' } },
  ]);
  const body = JSON.stringify({ initial_user_msg: whole });
  const made = await fetch(`${tendon.url}/api/conversations`, { method: 'POST', headers, body });
  const { conversation_id: id } = (await made.json()) as { conversation_id: string };
  const path = () => `${tendon.url}/api/conversations/${id}/delegated/questions`;
  const waiting = async (kind: string) => {
    const found = async () => ((await (await fetch(path())).json()) as DelegatedQuestions).questions;
    await expect.poll(async () => (await found()).map((question) => question.kind), { timeout: 50_000 }).toEqual([kind]);
    return (await found())[0]!;
  };
  const answer = (child: string, given: object) => fetch(`${path()}/${child}`, { method: 'POST', headers, body: JSON.stringify(given) });

  const { conversation_id: child, event_id } = await waiting('confirmation');
  await tendon.kill('SIGKILL');
  await tendon.start();
  expect(await waiting('confirmation')).toMatchObject({ conversation_id: child, event_id, action: { action: 'run' } });
  expect((await answer(child, { event_id, answer: 'approve' })).status).toBe(200);
  const question = await waiting('question');
  await tendon.kill('SIGKILL');
  await tendon.start();
  expect(await waiting('question')).toMatchObject({ conversation_id: child, event_id: question.event_id });
  const reply = { event_id: question.event_id, answer: 'reply', text: 'blue' };
  expect((await answer(child, reply)).status).toBe(200);
  const info = async () => (await (await fetch(`${tendon.url}/api/conversations/${id}`)).json()) as { agent_state: string };
  await expect.poll(async () => (await info()).agent_state, { timeout: 50_000 }).toBe('finished');
  const late = await answer(child, reply);
  expect([late.status, await late.text()]).toEqual([409, expect.stringContaining('nothing waits there any more')]);
});
