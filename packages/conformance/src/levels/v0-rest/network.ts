import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import type { Target } from '../../target/target.ts';
import { isState } from '../../target/frames.ts';
import { join, type JoinedConversation } from '../v0-socketio/join.ts';
import { bash, spoken } from '../v0-socketio/agent/talk.ts';
import { hasStatus } from '../shapes.ts';

const ROUTE = '/api/conversations/{id}/network';
/** Longer than a server may wait for a person's answer. */
const FETCH = (url: string) => bash(`curl -sS -m 30 -o /dev/null -w '%{http_code} %{errormsg}\\n' ${url} 2>&1; true`);

async function joinWith(target: Target, network: object): Promise<JoinedConversation> {
  const id = await target.converse({ network });
  const peer = join(target, id);
  await peer.frames.until('awaiting_user_input', isState('awaiting_user_input'));
  return { id, peer };
}

const refusedOf = async (target: Target, id: string): Promise<readonly { host: string; reason: string; count: number }[]> =>
  (await target.ask('GET', `/api/conversations/${id}/network`)).body.refused as unknown as readonly {
    host: string;
    reason: string;
    count: number;
  }[];

/** Where a conversation's sandbox may connect to. No check needs the network: each is about what is refused. */
export const network: readonly Check[] = [
  {
    id: 'v0-rest/network-none',
    title: 'with the policy `none` nothing is reached; a refusal is reported with its reason and counted',
    cites: ['SB70', 'SB74', 'SV51', 'SV52'],
    needs: ROUTE,
    async run(target) {
      const ready = await joinWith(target, { mode: 'none' });
      assert.equal((await target.ask('GET', `/api/conversations/${ready.id}/network`)).body.mode as unknown, 'none');
      await spoken(target, [FETCH('https://example.org/'), FETCH('https://example.org/')], { ready });
      const [refused] = await refusedOf(target, ready.id);
      assert.equal(refused?.host, 'example.org');
      assert.ok(refused.count >= 2 && refused.reason.length > 0, JSON.stringify(refused));
    },
  },
  {
    id: 'v0-rest/network-allowlist',
    title: 'with the policy `allowlist` a host that is not on the list is refused, also by a name below a listed one',
    cites: ['SB70', 'SB71'],
    needs: ROUTE,
    async run(target) {
      const ready = await joinWith(target, { mode: 'allowlist', allow: ['exact.example'] });
      await spoken(target, [FETCH('https://other.example/'), FETCH('https://below.exact.example/')], { ready });
      assert.deepEqual(
        (await refusedOf(target, ready.id)).map(({ host }) => host),
        ['other.example', 'below.exact.example'],
      );
    },
  },
  {
    id: 'v0-rest/network-question',
    title: 'a host that is on no list is asked about once: every client is notified, one answer is taken, and a refusal is not asked again',
    cites: ['SV451', 'SV453'],
    needs: `${ROUTE}/answer`,
    async run(target) {
      const ready = await joinWith(target, { mode: 'allowlist' });
      const path = `/api/conversations/${ready.id}/network`;
      const asked = async (): Promise<readonly string[]> =>
        ((await target.ask('GET', path)).body.questions as unknown as readonly { host: string; port: number }[]).map(
          ({ host, port }) => `${host}:${port}`,
        );
      const answer = (host: string, given: string) => target.ask('POST', `${path}/answer`, { body: { host, answer: given } });
      await spoken(target, [FETCH('https://asked.example/'), FETCH('http://asked.example/')], { ready });
      await ready.peer.volatile.until('the question', ({ volatile, questions }) => volatile === 'network' && Array.isArray(questions));
      assert.deepEqual(await asked(), ['asked.example:443']);
      hasStatus(await answer('never.example', 'once'), 409);
      hasStatus(await answer('asked.example', 'refuse'), 200);
      hasStatus(await answer('asked.example', 'once'), 409);
      await spoken(target, [FETCH('https://asked.example/')], { ready });
      assert.deepEqual(await asked(), []);
      assert.deepEqual((await target.ask('GET', path)).body.allow, []);
    },
  },
  {
    id: 'v0-rest/network-near',
    title: 'addresses of the host and near it are refused whatever the policy: loopback outside, link-local, metadata, private',
    cites: ['SB20', 'SB73'],
    needs: ROUTE,
    async run(target) {
      const ready = await joinWith(target, { mode: 'full' });
      const places = ['http://169.254.169.254/', 'http://10.0.0.1/', 'http://192.168.0.1/', 'http://[::ffff:127.0.0.1]:80/'];
      const { frames } = await spoken(
        target,
        places.map((url) => FETCH(`--noproxy '' ${url}`)),
        { ready },
      );
      for (const { content, observation } of frames) if (observation === 'run') assert.doesNotMatch(String(content), /^[23]\d\d /);
    },
  },
  {
    id: 'v0-rest/network-changed',
    title: 'a policy is changed while the sandbox runs, and counts from the next connection on',
    cites: ['SB72', 'SV52'],
    needs: ROUTE,
    async run(target) {
      const ready = await joinWith(target, { mode: 'allowlist' });
      await spoken(target, [FETCH('https://first.example/')], { ready });
      hasStatus(await target.ask('PUT', `/api/conversations/${ready.id}/network`, { body: { mode: 'none' } }), 200);
      await spoken(target, [FETCH('https://second.example/')], { ready });
      const reasons = (await refusedOf(target, ready.id)).map(({ reason }) => reason);
      assert.equal(reasons.length, 2);
      assert.notEqual(reasons[0], reasons[1]);
    },
  },
  {
    id: 'v0-rest/network-params',
    title: 'a network policy that does not exist is refused, and no conversation is made of it',
    cites: ['SV51', 'DL45'],
    needs: ROUTE,
    async run(target) {
      const answer = await target.ask('POST', '/api/conversations', { body: { network: { mode: 'everything' } } });
      hasStatus(answer, 400, 422);
    },
  },
];
