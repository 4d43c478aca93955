import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { makePlace, startTendon, tendon } from './tendon-child.test-support.ts';

const bash = (command: string) => ({ toolCalls: [{ name: 'execute_bash', arguments: { command } }] });

interface Result {
  readonly conversation_id: string;
  readonly answer: string;
  readonly state: string;
  readonly exit_code: number;
}

it('CL962: prints the answer alone, and exits with 0 done, 1 failed, 3 needs a decision', async () => {
  const place = makePlace();
  const model = place.script([bash('wc -c'), { text: 'It is **fine**.' }]);
  const done = await tendon(place, ['-m', model, '-p', 'review', 'this'], { input: '+ a change\n' });
  expect(done).toMatchObject({ code: 0, stdout: 'It is **fine**.\n', stderr: expect.stringContaining('$ wc -c') });
  const asked = await tendon(place, ['--approve=never', '--json', '-m', model, '-p', 'x']);
  const { conversation_id: id, ...result } = JSON.parse(asked.stdout) as Result;
  expect({ code: asked.code, ...result }).toMatchObject({ code: 3, state: 'awaiting_user_confirmation', exit_code: 3 });
  expect(asked.stderr).toContain(`tendon -r ${id}`);
  const failed = await tendon(place, ['-m', place.script([{ failure: 'LLM_AUTHENTICATION' }]), '-p', 'x']);
  expect(failed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('refused the key') });
});

itInFull('CL1051: a task is done when nobody reads how it goes', async () => {
  const place = makePlace();
  const model = place.script([bash('until [ -e go ]; do sleep 0.05; done'), { text: 'Fine.' }]);
  const child = startTendon(place, ['-m', model, '-p', 'x']);
  await child.until('$ until');
  child.closeErrors();
  writeFileSync(join(place.workspace, 'go'), '');
  expect(await child.ended).toBe(0);
  expect(child.stdout).toBe('Fine.\n');
});

it('CL1051: what would be ignored is wrong usage', async () => {
  for (const option of ['-c', '-r']) {
    const { code, stderr } = await tendon(makePlace(), [option, '-p', 'x']);
    expect({ option, code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('-r ID') });
  }
});

it('CL961, CL963: beside a server a task goes through it, in the folder of the caller, and stands in its list', async () => {
  const place = makePlace();
  const model = place.script([bash('cat a.txt > b.txt'), { text: 'Copied.' }]);
  const server = startTendon(place, ['serve', '--port', '0', '-m', model]);
  await server.until('workspace');
  const url = /http:\/\/\S+/.exec(server.stdout)![0];
  const refused = await fetch(`${url}/api/conversations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ directory: place.workspace }),
  });
  expect({ status: refused.status, body: await refused.text() }).toMatchObject({
    status: 403,
    body: expect.stringContaining('outside'),
  });
  writeFileSync(join(place.workspace, 'a.txt'), 'mine\n');
  const { code, stdout } = await tendon(place, ['--json', '--max-steps', '5', '--budget', '1', '-p', 'copy it']);
  const { conversation_id: id, answer } = JSON.parse(stdout) as Result;
  expect({ code, answer }).toEqual({ code: 0, answer: 'Copied.' });
  expect(readFileSync(join(place.workspace, 'b.txt'), 'utf8')).toBe('mine\n');
  const listed = (await (await fetch(`${url}/api/conversations/${id}`)).json()) as { title: string; llm_model: string };
  expect(listed).toMatchObject({ title: 'copy it', llm_model: model });
  const asked = await tendon(place, ['run', '--approve', 'never', 'again']);
  expect(asked).toMatchObject({ code: 3, stdout: expect.stringContaining('Waiting for a decision') });
});
