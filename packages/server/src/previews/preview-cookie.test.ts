import { expect, it } from 'vitest';
import { setCookies } from './authorize-preview.ts';
import { LOOPBACK_SITE, parsePreviewSite, type PreviewSite } from '../platform/preview-site.ts';

const site = (text: string): PreviewSite => parsePreviewSite(text)!;

it.each([
  [LOOPBACK_SITE, ['SameSite=Lax', 'SameSite=None']],
  [site('http://preview.localhost'), ['SameSite=Lax', 'SameSite=None']],
  [site('https://previews.example.org'), ['SameSite=None']],
  [site('http://previews.example.org'), ['SameSite=Lax']],
  [site('http://preview.evillocalhost.example'), ['SameSite=Lax']],
])('SV576: the token of a preview of %o works in a frame where browsers take the place for safe', (where, kinds) => {
  expect(setCookies('token', where).map((line) => /SameSite=\w+/.exec(line)?.[0])).toEqual(kinds);
});
