import { expect, it } from 'vitest';
import { itInFull } from '@tendon/testing';
import { makePlace, startTendon, tendon } from './tendon-child.test-support.ts';

it('CL966: conversations are listed, shown and removed, and settings changed, with a server and without one', async () => {
  const place = makePlace();
  const model = place.script([{ text: 'It is a test.' }]);
  const made = JSON.parse((await tendon(place, ['-m', model, '--json', '-p', 'what is this?'])).stdout) as { conversation_id: string };
  const { conversation_id: id } = made;
  const short = id.slice(0, 8);
  const check = async (): Promise<void> => {
    expect((await tendon(place, ['ls', '--here'])).stdout).toMatch(new RegExp(`^${short}  your turn .*  what is this\\?\\n$`));
    const shown = await tendon(place, ['show', short]);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringMatching(/ · your turn · [^\n]+\n\n> what is this\?\nIt is a test\.\n/) });
    const exported = await tendon(place, ['export', short, '-f', 'markdown']);
    expect(exported).toMatchObject({ code: 0, stdout: expect.stringContaining('It is a test.') });
    const listed = JSON.parse((await tendon(place, ['ls', '--json'])).stdout) as { conversations: { conversation_id: string }[] };
    expect(listed.conversations.map(({ conversation_id }) => conversation_id)).toEqual([id]);
  };
  await check();
  expect(await tendon(place, ['config', 'set', 'max_iterations', '77'])).toMatchObject({ code: 0 });
  expect(await tendon(place, ['open'])).toMatchObject({ code: 1, stderr: expect.stringContaining('tendon serve') });
  const server = startTendon(place, ['serve', '--port', '0', '-m', model]);
  await server.until('workspace');
  await check();
  expect(await tendon(place, ['config', 'get', 'max_iterations'])).toMatchObject({ code: 0, stdout: '77\n' });
  expect((await tendon(place, ['open', short])).stdout).toContain(`/conversations/${id}\n`);
  const tail = startTendon(place, ['tail', '--json', short]);
  await tail.until('awaiting_user_input');
  tail.signal('SIGINT');
  expect(await tail.ended).toBe(130);
  expect(await tendon(place, ['rm', short])).toMatchObject({ code: 2, stderr: expect.stringContaining('--force') });
  expect(await tendon(place, ['rm', '--force', short])).toMatchObject({ code: 0, stdout: `Deleted: ${id}\n` });
  expect((await tendon(place, ['show', short])).stderr).toContain(`There is no conversation ${short}`);
});

itInFull('CL966: config knows every setting by its name, also where nothing is stored, and shows no key', async () => {
  const place = makePlace();
  expect(await tendon(place, ['config', 'set', 'max_iteration', '5'])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^There is no setting max_iteration\. There are .*max_iterations/),
  });
  expect((await tendon(place, ['config', 'get', 'max_iteration'])).stderr).toContain('There is no setting max_iteration.');
  expect(await tendon(place, ['config', 'get', 'max_iterations'])).toMatchObject({ code: 0, stdout: 'null\n' });
  const key = 'sk-0123456789';
  const set = await tendon(place, ['config', 'set', 'llm_fallback_api_key', key]);
  expect(set).toMatchObject({ code: 0, stdout: expect.not.stringContaining(key) });
  expect((await tendon(place, ['config', 'get', 'llm_fallback_api_key_set'])).stdout).toBe('true\n');
  expect(await tendon(place, ['config', 'set', 'llm_api_key', key, '--json'])).toMatchObject({ stdout: expect.not.stringContaining(key) });
});
