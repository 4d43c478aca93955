import assert from 'node:assert/strict';
import type { Check } from '../../check.ts';

export const restConversations: readonly Check[] = [
  {
    id: 'v0-rest/create',
    title: '`POST /api/conversations` answers status, id of 32 hex digits and a status that frontends know',
    cites: ['DL41', 'SV10', 'SV11'],
    async run(target) {
      const answer = await target.ask('POST', '/api/conversations', { body: {} });
      assert.equal(answer.status, 200);
      const { conversation_id: id } = answer.body;
      target.defer(async () => void (await target.ask('DELETE', `/api/conversations/${String(id)}`)));
      assert.match(String(id), /^[0-9a-f]{32}$/);
      assert.partialDeepStrictEqual(answer.body, { status: 'ok', message: null });
      assert.ok(['STARTING', 'RUNNING'].includes(String(answer.body.conversation_status)), JSON.stringify(answer.body));
    },
  },
];
