// @vitest-environment happy-dom
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from 'socket.io';
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '../index.ts';

const page = globalThis as unknown as EventTarget & { readonly document: EventTarget };

it.each([
  ['online', page],
  ['visibilitychange', page.document],
])('CL54: a pause ends when the page reports %s', async (event, target) => {
  const http = createServer();
  const io = new Server(http, { cors: { origin: true } });
  onTestFinished(() => io.close());
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  // Its pauses last for hours.
  const connection = connect('c1', { baseUrl, random: () => -1e6, quietMs: 1 });
  onTestFinished(() => connection.close());
  await connection.when(({ loaded }) => loaded);
  io.disconnectSockets(true);
  await connection.when(({ connection: { state } }) => state === 'reconnecting');
  target.dispatchEvent(new Event(event));
  const { connection: now } = await connection.when(({ connection: { state } }) => state === 'connected');
  expect(now.state).toBe('connected');
});
