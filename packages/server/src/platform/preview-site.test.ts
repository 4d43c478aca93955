import { describe, expect, it } from 'vitest';
import { LOOPBACK_SITE, parsePreviewSite, previewOrigin, previewPlace } from './preview-site.ts';

const label = 'a'.repeat(32);

describe('where previews live', () => {
  it.each([
    ['previews.example.org', { scheme: 'http', domain: 'previews.example.org' }],
    ['Previews.Example.org:8080', { scheme: 'http', domain: 'previews.example.org', port: 8080 }],
    ['https://previews.example.org/', { scheme: 'https', domain: 'previews.example.org', port: 443 }],
    ['http://p.example.org', { scheme: 'http', domain: 'p.example.org', port: 80 }],
    ['localhost', undefined],
    ['10.0.0.1', undefined],
    ['https://a.b/path', undefined],
    ['*.example.org', undefined],
  ])('SV68: %s', (text, site) => {
    expect(parsePreviewSite(text)).toEqual(site);
  });

  it.each([
    [`5173-${label}.localhost:3000`, { port: 5173, label }],
    [`5173-${label}.LOCALHOST`, { port: 5173, label }],
    [`70000-${label}.localhost`, 'unknown'],
    // Other programs of this machine have names there as well.
    ['x.localhost', undefined],
    ['tendon.localhost:3000', undefined],
    [`5173-${label}.x.localhost`, undefined],
    ['localhost:3000', undefined],
    [`5173-${label}.evillocalhost`, undefined],
    [undefined, undefined],
  ])('SV60: %s', (host, place) => {
    expect(previewPlace(host, LOOPBACK_SITE)).toEqual(place);
  });

  it.each([
    [LOOPBACK_SITE, '127.0.0.1:3000', `http://1-${label}.localhost:3000`],
    [LOOPBACK_SITE, 'localhost', `http://1-${label}.localhost`],
    [{ scheme: 'https', domain: 'p.org', port: 443 }, 'p.org:3000', `https://1-${label}.p.org`],
    [{ scheme: 'http', domain: 'p.org', port: 8080 }, 'p.org', `http://1-${label}.p.org:8080`],
  ] as const)('SV68: links of %o, asked for at %s', (site, host, origin) => {
    expect(previewOrigin({ port: 1, label }, site, host)).toBe(origin);
  });
});
