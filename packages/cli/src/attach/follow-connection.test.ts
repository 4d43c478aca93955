import { connect } from '@tendon/client';
import { expect, it } from 'vitest';
import { followConnection } from './follow-connection.ts';

it('CL1051: a server that is not reached any more is reported once', async () => {
  const connection = connect('any', { baseUrl: 'http://127.0.0.1:9', offlineAfterMs: 0, random: () => 0.999 });
  let reports = 0;
  followConnection(connection, { event: () => undefined, frame: () => undefined, offline: () => (reports += 1) });
  const { signal } = new AbortController();
  await connection.when(({ connection: now }) => now.state === 'offline' && now.attempt > 2, signal);
  connection.close();
  expect(reports).toBe(1);
});
