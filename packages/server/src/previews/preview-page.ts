import type { IncomingMessage, ServerResponse } from 'node:http';

/** Why there is nothing to show, and what to do about it. */
export interface PreviewPage {
  readonly status: number;
  readonly title: string;
  readonly text: string;
  /** It may come by itself: the page looks again. */
  readonly isPassing?: boolean;
}

export const PAGES = {
  unknown: { status: 404, title: 'There is no such preview', text: 'Open the conversation and take the link from there.' },
  locked: {
    status: 401,
    title: 'This preview is locked',
    text: 'It opens with the link that the conversation offers, for the browser that followed it, and for a day at most. Open the conversation and take the link from there.',
  },
  foreign: {
    status: 403,
    title: 'This request came from another page',
    text: 'Only the preview itself may send requests to what it shows.',
  },
  suspended: {
    status: 503,
    title: 'The sandbox is not running',
    text: 'What it served has ended with it. Send the agent a message to start the sandbox, and ask it to start the program again.',
    isPassing: true,
  },
  nothing: {
    status: 503,
    title: 'Nothing is served yet',
    text: 'What a program in the sandbox serves first appears here. This page looks again every few seconds.',
    isPassing: true,
  },
  waiting: {
    status: 503,
    title: 'The editor waits for the sandbox',
    text: 'The next message to the agent starts it. This page looks again every few seconds.',
    isPassing: true,
  },
  starting: {
    status: 503,
    title: 'The editor is starting',
    text: 'It appears here when it has come up. This page looks again every few seconds.',
    isPassing: true,
  },
  noEditor: {
    status: 502,
    title: 'There is no editor',
    text: 'The sandbox has no openvscode-server or code-server on its PATH, or it does not come up. Load this page again when it does.',
  },
  slow: { status: 504, title: 'There was no answer', text: 'The program in the sandbox took the request and did not answer it in time.' },
  broken: { status: 502, title: 'The program did not answer', text: 'It ended the connection, or its answer is not HTTP.' },
} as const satisfies Record<string, PreviewPage>;

export function notServed(port: number): PreviewPage {
  const text = `No program in the sandbox listens on port ${port} now. This page looks again every few seconds.`;
  return { status: 502, title: `Nothing listens on port ${port}`, text, isPassing: true };
}

const LOOK_AGAIN_SECONDS = 3;

/** No cache stores it. A client that does not ask for a page gets text. */
export function sendPage(request: IncomingMessage, response: ServerResponse, page: PreviewPage): void {
  if (response.headersSent) return void response.destroy();
  const isHtml = request.headers.accept?.includes('text/html') === true;
  const body = isHtml ? html(page) : `${page.title}. ${page.text}\n`;
  response.writeHead(page.status, {
    'content-type': `text/${isHtml ? 'html' : 'plain'}; charset=utf-8`,
    'content-length': Buffer.byteLength(body),
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** All words are ours, so nothing needs to be escaped. */
function html({ title, text, isPassing }: PreviewPage): string {
  const again = isPassing ? `<meta http-equiv="refresh" content="${LOOK_AGAIN_SECONDS}">` : '';
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">${again}
<title>${title}</title>
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:18vh auto;padding:0 1.5rem}h1{font-size:1.25rem}</style>
<h1>${title}</h1><p>${text}</p></html>
`;
}
