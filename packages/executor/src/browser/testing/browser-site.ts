import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface BrowserSite {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string;
  /** The same server under another site's name. */
  readonly otherOrigin: string;
  /** Paths that were asked for, the oldest first. */
  readonly asked: readonly string[];
  /** Pages that can be added; the body of one is HTML. */
  readonly pages: Record<string, string | ((response: ServerResponse) => void)>;
  close(): void;
}

/** A web server for tests of the browser. */
export async function startBrowserSite(pages: BrowserSite['pages'] = {}): Promise<BrowserSite> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    asked.push(pathname);
    const page = pages[pathname];
    if (typeof page === 'function') return page(response);
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(page ?? '<h1>Not here</h1>');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    otherOrigin: `http://localhost:${port}`,
    asked,
    pages,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
