import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { itInFull } from '@tendon/testing';
import { TendonProcess } from '@tendon/testing/servers';

async function openServer() {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'tendon-base-')));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const [real, base, secrets] = [join(top, 'real'), join(top, 'base'), join(top, 'secrets')];
  for (const folder of [real, secrets]) mkdirSync(folder);
  symlinkSync(real, base); // the operator's own link
  writeFileSync(join(secrets, 'id_rsa'), 'the key');
  const tendon = await TendonProcess.start({ WORKSPACE_BASE: base });
  onTestFinished(() => tendon.remove());
  const call = async (path: string, body?: object) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(`${tendon.url}/api/conversations${path}`, body && init);
    return { status: response.status, text: await response.text() };
  };
  const conversation = async (params: object) => (JSON.parse((await call('', params)).text) as { conversation_id: string }).conversation_id;
  /** What a command is answered in a conversation whose sandbox does not start. */
  const refusal = async (id: string): Promise<string> =>
    (await call(`/${id}/events`, { action: 'run', args: { command: 'cat id_rsa' } })).text;
  return { tendon, real, secrets, call, conversation, refusal };
}

it('SB300, SV308: a link that an agent puts in the place of another conversation’s folder is refused by every route, in words', async () => {
  const { real, secrets, call, conversation, refusal } = await openServer();
  const [outer, inner] = [await conversation({}), await conversation({ directory: 'sub' })];
  await call(`/${outer}/save-file`, { filePath: 'mine', content: 'x' });
  // What works: the base is a link that the operator has made.
  expect(
    readdirSync(real)
      .filter((name) => !name.startsWith('.'))
      .toSorted(),
  ).toEqual(['mine', 'sub']); // held places begin with one
  // As the agent of the first conversation may.
  rmSync(join(real, 'sub'), { recursive: true });
  symlinkSync(secrets, join(real, 'sub'));
  const answers = [
    await call(`/${inner}/list-files`),
    await call(`/${inner}/select-file?file=id_rsa`),
    await call(`/${inner}/save-file`, { filePath: 'written', content: 'x' }),
  ];
  for (const { status, text } of answers) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text).not.toContain('id_rsa');
    expect(text).not.toContain('the key');
  }
  const reason = await refusal(inner);
  expect(reason).toContain('a link is in its place');
  expect(reason).not.toContain('the key');
  expect(readdirSync(secrets)).toEqual(['id_rsa']);
  // A new conversation there is refused as well, and nothing is made behind the link.
  expect((await call('', { directory: 'sub/new' })).status).toBeGreaterThanOrEqual(400);
  expect(existsSync(join(secrets, 'new'))).toBe(false);
});

itInFull('SV309: a record that names a folder outside of what this machine allows opens no sandbox, and says what would', async () => {
  const { tendon, secrets, call, conversation, refusal } = await openServer();
  const id = await conversation({});
  await tendon.kill('SIGKILL');
  const db = new DatabaseSync(join(tendon.home, 'tendon.db'));
  const { json } = db.prepare(`SELECT json FROM records WHERE collection = 'conversations' AND id = ?`).get(id) as { json: string };
  const update = db.prepare(`UPDATE records SET json = ? WHERE collection = 'conversations' AND id = ?`);
  update.run(JSON.stringify({ ...(JSON.parse(json) as object), workspace: secrets }), id);
  db.close();
  await tendon.start();
  const { status, text } = await call(`/${id}/list-files`);
  expect([status, text.includes('id_rsa')]).toEqual([404, false]);
  expect(await refusal(id)).toContain('TENDON_ALLOWED_DIRS');
});
