import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export type PageUrl = { readonly ok: true; readonly url: string } | { readonly ok: false; readonly error: string };

const SCHEMES = 'http, https, about:blank, data, view-source, and file within the workspace';
const LOCAL_NAME = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|[\w.-]+\.localhost)(?:[:/?#]|$)/i;

/** What a model or a person wrote as an address, as the URL to open. Without a scheme it is a path, a local server or an https site. */
export function pageUrl(written: string, workspace: string): PageUrl {
  const text = written.trim();
  if (text === '') return { ok: false, error: 'the address is empty' };
  if (text.startsWith('/')) return fileUrl(pathToFileURL(text), workspace);
  // "localhost:3000" and "example.com:8080" look like schemes and are none.
  const hasScheme = /^[a-z][a-z\d+.-]*:/i.test(text) && !/^[\w.-]+:\d+(?:[/?#]|$)/.test(text);
  const url = URL.parse(hasScheme ? text : `${LOCAL_NAME.test(text) ? 'http' : 'https'}://${text}`);
  if (url === null) return { ok: false, error: `"${text.slice(0, 200)}" is not an address` };
  switch (url.protocol) {
    case 'http:':
    case 'https:':
    case 'data:':
      return { ok: true, url: url.href };
    case 'about:':
      return url.href === 'about:blank' ? { ok: true, url: url.href } : refused(url);
    case 'file:':
      return fileUrl(url, workspace);
    case 'view-source:': {
      const inner = pageUrl(url.href.slice('view-source:'.length), workspace);
      return inner.ok ? { ok: true, url: `view-source:${inner.url}` } : inner;
    }
    default:
      return refused(url);
  }
}

function refused(url: URL): PageUrl {
  return { ok: false, error: `addresses with ${url.protocol} are not opened; there are ${SCHEMES}` };
}

function fileUrl(url: URL, workspace: string): PageUrl {
  try {
    const path = realpathSync(fileURLToPath(url));
    if (`${path}${sep}`.startsWith(`${realpathSync(workspace)}${sep}`)) return { ok: true, url: url.href };
    return { ok: false, error: `${path} is outside of the workspace ${workspace}: read it with the shell` };
  } catch {
    return { ok: false, error: `there is no file ${url.href}` };
  }
}
