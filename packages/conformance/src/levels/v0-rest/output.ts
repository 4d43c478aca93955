import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';
import { joinNew } from '../v0-socketio/join.ts';
import { bash, inShared, spoken } from '../v0-socketio/agent/talk.ts';
import { hasStatus, hasTypes } from '../shapes.ts';

const ROUTE = '/api/conversations/{id}/events/{event}/output';

/** The whole of what a command printed, where the server keeps it. */
export const output: readonly Check[] = [
  {
    id: 'v0-rest/output',
    title: 'all that a command has printed is downloaded as text, by the id of its action or of its answer',
    cites: ['SV41', 'RT46'],
    shares: 'workspace',
    needs: ROUTE,
    async run(target) {
      const { ready, frames } = await spoken(target, [bash('seq 1 30000')], await inShared(target));
      const { id, cause } = frames.find(({ observation }) => observation === 'run')!;
      for (const event of [id, cause]) {
        const answer = await target.ask('GET', `/api/conversations/${ready.id}/events/${String(event)}/output`);
        hasStatus(answer, 200);
        assert.match(answer.headers.get('content-type') ?? '', /^text\/plain/);
        assert.equal(answer.text.trimEnd().split('\n').length, 30_000);
      }
    },
  },
  {
    id: 'v0-rest/output-none',
    title: 'an event without output, or none at all, is 404 in words',
    cites: ['SV42'],
    needs: ROUTE,
    async run(target) {
      const { id } = await joinNew(target);
      for (const event of [0, 9999]) {
        const answer = await target.ask('GET', `/api/conversations/${id}/events/${event}/output`);
        hasStatus(answer, 404);
        hasTypes(answer.body, { message: 'string' }, 'answer');
      }
    },
  },
  {
    id: 'v0-rest/output-secret',
    title: 'secrets are hidden in a downloaded output too',
    cites: ['SV43', 'SB85'],
    needs: ROUTE,
    isAlone: true,
    async run(target) {
      const [name, value] = ['CONFORMANCE_PRINTED', 'pr1nted-0nly-inside'];
      target.defer(async () => void (await target.ask('DELETE', `/api/secrets/${name}`)));
      await target.ask('POST', '/api/secrets', { body: { name, value, description: '' } });
      const { ready, frames } = await spoken(target, [bash(`seq 1 20000; echo "$${name}"; seq 1 20000`)]);
      const { id } = frames.find(({ observation }) => observation === 'run')!;
      const answer = await target.ask('GET', `/api/conversations/${ready.id}/events/${String(id)}/output`);
      hasStatus(answer, 200);
      assert.ok(answer.text.length > 100_000 && !answer.text.includes(value), 'it is in the download');
    },
  },
];
