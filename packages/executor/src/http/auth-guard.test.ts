import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import type { ExecutorEndpoint } from '@tendon/protocol/executor-api';
import { createAuthGuard } from './auth-guard.ts';

const KEY = 'the key of the port';

type GuardConfig = Parameters<typeof createAuthGuard>[0];

function configWith(given: ExecutorEndpoint & { readonly key?: string }): GuardConfig {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-guard-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const stateDir = join(folder, 'state');
  mkdirSync(stateDir);
  const { key, ...rest } = given;
  if (key !== undefined) writeFileSync(join(stateDir, 'key'), key);
  const keyFile = key === undefined ? {} : { keyFile: join(stateDir, 'key') };
  return {
    endpoint: { ...keyFile, ...rest },
    folders: { stateDir, workspace: '/', workDir: '/' },
  };
}

it('RT210: a port lets nobody in but who brings the very key, and no page whatever it brings', () => {
  const guard = createAuthGuard(configWith({ port: 1, key: `${KEY}\n` }));
  expect(guard({ headers: { host: 'far.example', 'x-session-api-key': KEY } })).toBeUndefined();
  expect(guard({ headers: { host: 'localhost' } })).toMatchObject({ status: 401, error: expect.stringContaining('X-Session-API-Key') });
  expect(guard({ headers: { origin: 'http://localhost', 'x-session-api-key': KEY } })).toMatchObject({ status: 403 });
  const near = fc.constantFrom(KEY.slice(1), KEY.slice(0, -1), `${KEY}x`, ` ${KEY}`, KEY.toUpperCase(), '');
  fc.assert(
    fc.property(fc.oneof(near, fc.string({ maxLength: 200 })), (given) => {
      fc.pre(given !== KEY);
      expect(guard({ headers: { 'x-session-api-key': given } })?.status).toBe(401);
    }),
  );
});

it('RT210: without a key only this machine is served, under its own names', () => {
  const guard = createAuthGuard(configWith({ port: 1 }));
  for (const host of ['127.0.0.1:1', 'localhost', '[::1]:80', '127.3.2.1'])
    expect([host, guard({ headers: { host } })]).toEqual([host, undefined]);
  for (const host of ['rebound.example', '10.0.0.1:1', 'localhost.evil.example', '127.0.0.1.evil', 'x@127.0.0.1', '']) {
    expect([host, guard({ headers: { host } })?.status]).toEqual([host, 403]);
  }
});

it('RT211: a port that other machines reach has a key, long enough and out of sight of what runs inside', () => {
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'host.example', '127.0.0.1.nip.io']) {
    expect(() => createAuthGuard(configWith({ port: 1, host }))).toThrow(`config.endpoint.host ${host} can be reached from other machines`);
    expect(createAuthGuard(configWith({ port: 1, host, key: KEY }))({ headers: {} })?.status).toBe(401);
  }
  for (const host of ['127.0.0.1', '::1', 'localhost']) expect(() => createAuthGuard(configWith({ port: 1, host }))).not.toThrow();
  expect(() => createAuthGuard(configWith({ port: 1, key: 'short' }))).toThrow(/holds no key: at least 8/);
  expect(() => createAuthGuard(configWith({ port: 1, keyFile: '/no/such/key' }))).toThrow(/must be in .*state/);
});

it('RT210: a unix socket has its folder for a guard', () => {
  expect(createAuthGuard(configWith({ socketPath: '/s' }))({ headers: { origin: 'null' } })).toBeUndefined();
});
