import { expect, it, onTestFinished } from 'vitest';
import { sharedPostgres } from '@tendon/testing/postgres';
import { makePlace, startTendon, tendon } from './tendon-child.test-support.ts';

it('SV1103: tendon migrate copies a home into a database and back, when no server has them', async () => {
  const place = makePlace();
  const server = startTendon(place, ['serve', '--port', '0']);
  await server.until('workspace');
  const url = /http:\/\/\S+/.exec(server.stdout)?.[0] ?? '';
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ initial_user_msg: 'Hello' }) };
  expect((await fetch(`${url}/api/conversations`, init)).status).toBe(200);
  const cluster = await sharedPostgres();
  const database = `migrated_${process.pid}`;
  const to = await cluster.createDatabase(database);
  onTestFinished(() => cluster.sql('postgres', `DROP DATABASE ${database}`).then(() => undefined));
  expect(await tendon(place, ['migrate', '--to', to])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^[^\n]*in use by process[^\n]*\n$/),
  });
  server.signal('SIGTERM');
  await server.ended;

  const copied = {
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(/^Copied and compared: 1 conversations? with \d+ events, \d+ records/),
  };
  expect(await tendon(place, ['migrate', '--to'], { env: { TENDON_DATABASE_URL: to } })).toEqual(copied);
  expect(await tendon(place, ['migrate', '--from', to, '--home', `${place.home}-2`])).toEqual(copied);
  const listed = async (home: string, env = {}): Promise<unknown> =>
    (await tendon(place, ['ls', '--json', '--home', home], { env })).stdout.match(/"(?:conversation_id|title)": "[^"]*"/g);
  const there = await listed(`${place.home}/.tendon`);
  expect(there).toHaveLength(2);
  expect(await listed(`${place.home}-2`)).toEqual(there);
  expect(await listed(`${place.home}-3`, { TENDON_DATABASE_URL: to })).toEqual(there);
  expect(await tendon(place, ['migrate'])).toMatchObject({ code: 2, stderr: 'Say either --to or --from.\n' });
  expect(await tendon(place, ['backup', 'copy'], { env: { TENDON_DATABASE_URL: to } })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('pg_dump'),
  });
});
