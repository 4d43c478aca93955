import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';

const STYLE =
  ':root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:22rem;margin:18vh auto;padding:0 1.5rem}' +
  'h1{font-size:1.25rem}label,input,button{display:block;width:100%;box-sizing:border-box;font:inherit}' +
  'input,button,a{margin-top:.5rem;padding:.5rem .75rem}a{display:block;text-align:center;border:1px solid;border-radius:.25rem;text-decoration:none;color:inherit}[role=alert]{color:light-dark(#b00020,#ff8a80)}';
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Nothing of it comes from another origin, and nobody may frame it. */
export const LOGIN_HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'x-frame-options': 'DENY',
  // Without a referrer a browser sends the form with `Origin: null`, and that is nobody's page.
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

/** Asks for a key, and where the server has users leads to their identity provider. `next`: the path that was wanted. */
export function loginPage(next: string, { problem = '', provider }: LoginPageOptions = {}): string {
  return page(`<h1>Sign in to Tendon</h1>
${problem && `<p role="alert">${escaped(problem)}</p>`}
${provider === undefined ? '' : `<p><a href="/login/oidc?next=${escaped(encodeURIComponent(next))}">Sign in at ${escaped(provider)}</a></p>`}
<form method="post" action="/login"><input type="hidden" name="next" value="${escaped(next)}">
<label for="key">Key of this server, or one that you were given</label>
<input id="key" name="key" type="password" autocomplete="current-password" required autofocus maxlength="1000">
<button>Sign in</button></form>`);
}

export interface LoginPageOptions {
  readonly problem?: string;
  /** The name of the identity provider's host. */
  readonly provider?: string | undefined;
}

export function sendLoginPage(reply: FastifyReply, status: number, next: string, options?: LoginPageOptions): FastifyReply {
  return reply.code(status).headers(LOGIN_HEADERS).type('text/html; charset=utf-8').send(loginPage(next, options));
}

/** A link from another site brings no cookie along. The page asks once more, by itself, and then it does. */
export function askAgainPage(): string {
  return page('<meta http-equiv="refresh" content="0"><p>One moment</p>');
}

/** After a moment: until then not every server of several may know of the session. */
export function goOnPage(next: string): string {
  return page(`<meta http-equiv="refresh" content="1;url=${escaped(next)}"><p>One moment</p>`);
}

/** A path of this server, whatever was asked for: `//other.example` is none. */
export function safePath(path: string): string {
  return /^\/(?![/\\])[^\s\\]*$/.test(path) && path.length <= 2_000 ? path : '/';
}

function page(content: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Tendon</title><style>${STYLE}</style>
${content}</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
