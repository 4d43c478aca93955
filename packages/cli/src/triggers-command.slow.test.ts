import { itInFull, someOf } from '@tendon/testing';
import type { CreatedTrigger, Delivered, DeliveryInfo, TriggerInfo } from '@tendon/protocol';
import { expect, it } from 'vitest';
import { makePlace, startTendon, tendon, type Place, type TendonOptions } from './tendon-child.test-support.ts';

const env = { SESSION_API_KEY: 'the-key-of-a-session' };

/** What the command prints with `--json`. */
async function json<Value>(place: Place, args: readonly string[], options: TendonOptions = { env }): Promise<Value> {
  const { code, stdout, stderr } = await tendon(place, ['triggers', ...args, '--json'], options);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Value;
}

async function serve(place: Place) {
  const server = startTendon(place, ['serve', '--port', '0', '-m', place.script([{ text: 'Looked after.' }])], { env });
  await server.until('workspace');
  return { server, url: /http:\/\/\S+/.exec(server.stdout)?.[0] ?? '' };
}

it('TG930: triggers are added, fired, paused, resumed and removed through the server, and listed without one', async () => {
  const place = makePlace();
  const { server, url } = await serve(place);
  const added = await json<CreatedTrigger>(place, ['add', 'webhook', '--name', 'builds', '--prompt', '-'], { env, input: 'Why: {{text}}' });
  expect(added).toMatchObject({ kind: 'webhook', name: 'builds', prompt: 'Why: {{text}}', enabled: true });
  const { id } = added;
  const nightly = ['add', 'schedule', '--name', 'nightly', '--prompt', 'Tidy up.', '--cron', '0 3 * * *', '--time-zone', 'Asia/Kathmandu'];
  const posted = [...nightly, '--post-to', 'github:ann/tools!9'];
  expect((await tendon(place, ['triggers', ...posted], { env })).stdout).toMatch(/^id {4}[0-9a-f]{16}\nnext {2}\d{4}-.*T21:15:00\.000Z\n$/);

  const send = (path: string) => fetch(url + path, { method: 'POST', headers: { authorization: `Bearer ${added.secret}` }, body: '{}' });
  expect((await send(added.path!)).status).toBe(202);
  expect(await json<TriggerInfo>(place, ['pause', id])).toMatchObject({ enabled: false });
  expect((await send(added.path!)).status).toBe(409);
  expect(await json<Delivered>(place, ['fire', id, 'it', 'broke'])).toMatchObject({ name: 'fired by hand', repeated: false });
  const { triggers } = await json<{ triggers: TriggerInfo[] }>(place, ['list']);
  const post_to = { git_provider: 'github', repository: 'ann/tools', number: 9, is_pull_request: true };
  expect(triggers).toMatchObject([{ name: 'nightly', post_to }, { name: 'builds' }]);
  const deliveries = async () => (await json<{ deliveries: DeliveryInfo[] }>(place, ['deliveries', id])).deliveries;
  await expect.poll(async () => (await deliveries()).map(({ state }) => state), { timeout: 60_000 }).toEqual(['done', 'done']);
  const resumed = await tendon(place, ['triggers', 'resume', id], { env });
  expect(resumed).toEqual({ code: 0, stdout: 'builds fires again.\n', stderr: '' });

  const before = await tendon(place, ['triggers'], { env });
  expect(before.stdout).toMatch(/^ID +KIND +NAME +STATE +FIRES\n\w+ +schedule +nightly +on +0 3 \* \* \* Asia\/Kathmandu, next .*Z\n/);
  expect((await tendon(place, ['triggers', 'remove', 'nobody'], { env })).stderr).toContain('There is no trigger nobody');
  expect(await tendon(place, ['triggers'])).toMatchObject({ code: 1, stderr: expect.stringContaining('SESSION_API_KEY') as string });
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);

  const listed = await tendon(place, ['triggers']);
  expect(listed).toMatchObject({ code: 0, stderr: '' });
  expect(listed.stdout).toBe(`${before.stdout}No server runs on this home, so none fires.\n`);
  expect(listed.stdout).not.toContain(added.secret!);
  expect(await deliveries()).toHaveLength(2);
  const refused = await tendon(place, ['triggers', 'remove', id]);
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('start tendon serve') as string });
  expect((await tendon(place, ['triggers', 'deliveries', 'nobody'])).stderr).toContain('There is no trigger nobody');
});

itInFull('TG930: the secret of a trigger is shown with its address when it is added, and a removed one is gone', async () => {
  const place = makePlace();
  const { url } = await serve(place);
  const mentions = ['add', 'github', '--name', 'mentions', '--no-phrase', '--label', 'agent', '--repository', 'ann/tools'];
  const shown = await tendon(place, ['triggers', ...mentions], { env });
  expect(shown.stdout).toMatch(/^id +\w+\naddress +http:\S+\/webhook\nsecret +\S{43}\n/);
  expect(shown.stdout).toContain(`address  ${url}/api/triggers/`);
  expect((await tendon(place, ['triggers'], { env })).stdout).toMatch(/mentions +on +label agent in ann\/tools\n/);
  const { triggers } = await json<{ triggers: TriggerInfo[] }>(place, []);
  expect(await tendon(place, ['triggers', 'remove', triggers[0]!.id], { env })).toMatchObject({ code: 0, stderr: '' });
  expect(await tendon(place, ['triggers'], { env })).toMatchObject({ code: 0, stdout: 'There are no triggers.\n' });
});

const REFUSED: readonly [string, readonly string[], RegExp][] = [
  ['of no kind', ['email', '--name', 'x'], /Allowed choices are webhook, schedule, github, gitlab/],
  ['without a name', ['webhook', '--prompt', 'x'], /--name/],
  ['without a prompt', ['webhook', '--name', 'x'], /needs --prompt/],
  ['without a time', ['schedule', '--name', 'x', '--prompt', 'x'], /needs --cron/],
  ['for nobody', ['gitlab', '--name', 'x'], /needs --allowed-users/],
  [
    'with what its kind has not',
    ['webhook', '--name', 'x', '--prompt', 'x', '--time-zone', 'UTC'],
    /--time-zone is for the kind schedule\./,
  ],
  ['that posts nowhere', ['webhook', '--name', 'x', '--prompt', 'x', '--post-to', 'ann/tools'], /github:owner\/name#9/],
];

it.each(someOf(REFUSED, 3))('TG931: a trigger %s is refused with exit code 2', async (_how, args, words) => {
  const { code, stdout, stderr } = await tendon(makePlace(), ['triggers', 'add', ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(words);
});
