import { Secret } from '@tendon/protocol/masking';
import type { CatalogError } from '@tendon/protocol';
import { describe, expect, it } from 'vitest';
import { LOOPBACK_SITE } from '../preview-site.ts';
import { authorize as decide, type AccessRequest, type AccessRules } from './authorize.ts';

const rules: AccessRules = {
  host: '127.0.0.1',
  allowedHosts: ['box.lan'],
  corsOrigins: ['https://ide.example'],
  sessionApiKey: undefined,
  previews: LOOPBACK_SITE,
  container: { ports: [] },
};
const locked: AccessRules = { ...rules, sessionApiKey: new Secret('right-key') };

function request(headers: Record<string, string>, more: Partial<AccessRequest> = {}): AccessRequest {
  return { method: 'GET', url: '/api/conversations', headers, localAddress: '127.0.0.1', need: 'admin', ...more };
}

/** Why it is refused. */
function authorize(asked: AccessRequest, by: AccessRules): CatalogError | undefined {
  const access = decide(asked, by);
  return access.ok ? undefined : access.error;
}

describe('SV3: Host', () => {
  it.each(['localhost', 'localhost:3000', 'LOCALHOST:3000', '127.0.0.1:3000', '127.9.9.9', '[::1]:3000', 'box.lan', 'Box.lan:8080'])(
    '%s is served',
    (host) => {
      expect(authorize(request({ host }), rules)).toBeUndefined();
    },
  );

  it.each([
    '',
    'evil.example',
    'evil.example:3000',
    'localhost.evil.example',
    '127.0.0.1.nip.io',
    `3000-${'a'.repeat(32)}.localhost:3000`,
    'box.lan.evil',
    '192.168.1.7',
    'a b',
    '[::1',
    'localhost:3000:1',
  ])('%j is refused', (host) => {
    expect(authorize(request({ host }), rules)?.code).toBe('HOST_NOT_ALLOWED');
  });

  it('a request without Host is refused', () => {
    expect(authorize(request({}), rules)?.code).toBe('HOST_NOT_ALLOWED');
  });

  it('the address that the client reached is served when the server is bound to all', () => {
    const open = { ...rules, host: '0.0.0.0' };
    expect(authorize(request({ host: '192.168.1.7:3000' }, { localAddress: '::ffff:192.168.1.7' }), open)).toBeUndefined();
    expect(authorize(request({ host: '192.168.1.8:3000' }, { localAddress: '192.168.1.7' }), open)?.code).toBe('HOST_NOT_ALLOWED');
  });
});

describe('SV4: Origin', () => {
  const host = 'localhost:3000';
  it.each(['http://localhost:3000', 'http://localhost:5173', 'http://127.0.0.1:8080', 'http://[::1]:1', 'https://ide.example'])(
    '%s is served',
    (origin) => {
      expect(authorize(request({ host, origin }), rules)).toBeUndefined();
    },
  );

  it.each([
    'null',
    '',
    'https://evil.example',
    'http://localhost.evil.example',
    `http://8000-${'a'.repeat(32)}.localhost:3000`,
    'file://',
    'chrome-extension://abc',
    'http://user@localhost:3000',
    'http://ide.example',
  ])('%j is refused', (origin) => {
    expect(authorize(request({ host, origin }), rules)?.code).toBe('ORIGIN_NOT_ALLOWED');
  });

  it.each(['http://localhost:3001', 'http://127.0.0.2:3001', 'https://[::1]:3001', 'http://localhost', 'https://127.0.0.1'])(
    'SV493: %s is refused where a sandbox may serve that port, unless it is permitted by name',
    (origin) => {
      const published = { ...rules, container: { ports: [{ host: 3001 }, { host: 80 }, { host: 443 }] } };
      expect(authorize(request({ host, origin }), published)?.code).toBe('ORIGIN_NOT_ALLOWED');
      expect(authorize(request({ host, origin }), { ...published, corsOrigins: [origin] })).toBeUndefined();
      expect(authorize(request({ host, origin: 'http://localhost:5173' }), published)).toBeUndefined();
    },
  );

  it('our own is served under whatever name we are reached by', () => {
    expect(authorize(request({ host: 'box.lan:3000', origin: 'http://box.lan:3000' }), rules)).toBeUndefined();
    expect(authorize(request({ host: 'box.lan:3000', origin: 'http://box.lan:4000' }), rules)?.code).toBe('ORIGIN_NOT_ALLOWED');
  });
});

describe('SV5: the session key', () => {
  const host = 'localhost';
  it('is taken from the header, else from the query', () => {
    expect(authorize(request({ host, 'x-session-api-key': 'right-key' }), locked)).toBeUndefined();
    expect(authorize(request({ host }, { url: '/ws?a=1&session_api_key=right-key' }), locked)).toBeUndefined();
  });

  it.each(['', 'wrong-key', 'right-key ', 'null', 'right-ke'])('%j is refused', (key) => {
    expect(authorize(request({ host, 'x-session-api-key': key }), locked)?.code).toBe('UNAUTHORIZED');
    expect(authorize(request({ host }, { url: `/?session_api_key=${key}` }), locked)?.code).toBe('UNAUTHORIZED');
  });

  it('is not asked for where the route is public, but Host and Origin are', () => {
    expect(authorize(request({ host }, { need: 'public' }), locked)).toBeUndefined();
    expect(authorize(request({ host: 'evil.example' }, { need: 'public' }), locked)?.code).toBe('HOST_NOT_ALLOWED');
  });
});
