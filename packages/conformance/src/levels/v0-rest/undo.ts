import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { bash, spoken } from '../v0-socketio/agent/talk.ts';
import { hasStatus, hasTypes } from '../shapes.ts';

const ROUTE = '/api/conversations/{id}/fork';

/** What an agent did, taken back, or left as it was in a second conversation. */
export const undo: readonly Check[] = [
  {
    id: 'v0-rest/fork',
    title: 'a fork at an event has the events up to there and the files of then, and the first conversation stays as it is',
    cites: ['CK800', 'CK802'],
    needs: ROUTE,
    async run(target) {
      const steps = [bash('cd /workspace 2>/dev/null; echo one > conformance-fork'), bash('echo two > conformance-fork')];
      const { ready, frames } = await spoken(target, steps);
      const [first, second] = frames.filter(({ observation }) => observation === 'run');
      const answer = await target.ask('POST', `/api/conversations/${ready.id}/fork`, { body: { event: first!.id } });
      hasStatus(answer, 200);
      hasTypes(answer.body, { conversation_id: 'string', event_id: 'number' }, 'answer');
      const fork = String((answer.body as unknown as { readonly conversation_id: string }).conversation_id);
      target.defer(async () => void (await target.ask('DELETE', `/api/conversations/${fork}`)));
      const file = async (id: string): Promise<string> =>
        (await target.ask('GET', `/api/conversations/${id}/select-file?file=conformance-fork`)).text;
      assert.match(await file(fork), /one/);
      assert.match(await file(ready.id), /two/);
      const events = await target.ask('GET', `/api/conversations/${fork}/events/search?limit=100`);
      const ids = (events.body as unknown as { readonly events: readonly { readonly id: number; readonly observation?: string }[] }).events;
      assert.ok(
        ids.some(({ id }) => id === first!.id),
        'the event at which it was forked',
      );
      assert.equal(ids.find(({ id }) => id === second!.id)?.observation === 'run', false, 'the second command');
    },
  },
  {
    id: 'v0-rest/fork-refused',
    title: 'a fork at an event that is not there is refused in words',
    cites: ['CK804'],
    needs: ROUTE,
    async run(target) {
      const id = await target.converse();
      const answer = await target.ask('POST', `/api/conversations/${id}/fork`, { body: { event: 999_999 } });
      hasStatus(answer, 400);
      hasTypes(answer.body, { message: 'string' }, 'answer');
    },
  },
];
