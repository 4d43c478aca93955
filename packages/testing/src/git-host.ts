/** A git host on this machine: bare repositories behind git's own `http-backend`, closed to clients without a token. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { json } from 'node:stream/consumers';

export interface GitHost {
  readonly port: number;
  /** `127.0.0.1:<port>` */
  readonly name: string;
  readonly requests: string[];
  /** What was asked for with a token, as GitHub Enterprise is asked for a pull request; each is open then. */
  readonly pulls: readonly PullAsked[];
  /** A request waits here until it is let go. */
  hold: Promise<void> | undefined;
  /** Makes a bare repository `owner/name` with these files on `main`, and an empty branch beside it for each name. */
  create(repository: string, files: Readonly<Record<string, string>>, branches?: readonly string[]): void;
  /** What git says there. */
  git(repository: string, ...args: readonly string[]): string;
  close(): void;
}

export interface PullAsked {
  readonly head: string;
  readonly base: string;
  readonly title: string;
}

const IDENTITY = ['-c', 'user.name=Host', '-c', 'user.email=host@example.com', '-c', 'init.defaultBranch=main'];

/** `private/…` asks for `token`, everything else is open to read; a push always asks. */
export async function startGitHost(token: string): Promise<GitHost> {
  const folder = mkdtempSync(join(tmpdir(), 'tendon-git-host-'));
  const bare = (repository: string): string => join(folder, `${repository}.git`);
  const requests: string[] = [];
  const pulls: PullAsked[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    void (host.hold ?? Promise.resolve()).then(() =>
      request.url?.startsWith('/api/v3/') ? answerApi(request, response, token, pulls) : answer(request, response, folder, token),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const host: GitHost = {
    port,
    name: `127.0.0.1:${port}`,
    requests,
    pulls,
    hold: undefined,
    create(repository, files, branches = []) {
      const work = mkdtempSync(join(folder, 'work-'));
      const git = (...args: readonly string[]): string =>
        execFileSync('git', [...IDENTITY, ...args], { cwd: work, stdio: 'pipe' }).toString();
      git('init', '-q', '-b', 'main');
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(work, path)), { recursive: true });
        writeFileSync(join(work, path), text);
      }
      git('add', '-A');
      git('commit', '-qm', 'first');
      for (const branch of branches) git('branch', branch);
      mkdirSync(dirname(bare(repository)), { recursive: true });
      git('clone', '-q', '--bare', work, bare(repository));
      rmSync(work, { recursive: true });
    },
    git: (repository, ...args) =>
      execFileSync('git', [...IDENTITY, ...args], { cwd: bare(repository), stdio: 'pipe' })
        .toString()
        .trim(),
    close() {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return host;
}

/** GitHub's. */
async function answerApi(request: IncomingMessage, response: ServerResponse, token: string, pulls: PullAsked[]): Promise<void> {
  const send = (status: number, body: unknown): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  if (request.headers.authorization?.split(' ')[1] !== token) return send(401, { message: 'Bad credentials' });
  const [, repository] = /^\/api\/v3\/repos\/([^/]+\/[^/]+)\/pulls$/.exec(request.url ?? '') ?? [];
  if (repository === undefined || request.method !== 'POST') return send(200, { id: 1, login: 'ann', avatar_url: '' });
  pulls.push((await json(request)) as PullAsked);
  return send(201, { number: pulls.length, html_url: `http://${request.headers.host}/${repository}/pull/${pulls.length}` });
}

function answer(request: IncomingMessage, response: ServerResponse, folder: string, token: string): void {
  const url = new URL(request.url ?? '/', 'http://host');
  const [, password] = Buffer.from(request.headers.authorization?.replace(/^Basic /, '') ?? '', 'base64')
    .toString()
    .split(':');
  const isWrite = url.search.includes('receive-pack') || url.pathname.endsWith('receive-pack');
  if (url.pathname.startsWith('/api/v4/user')) return void response.writeHead(200).end('{}');
  if (url.pathname.startsWith('/moved/')) {
    return void response.writeHead(301, { location: url.pathname.replace('/moved/', '/private/') + url.search }).end();
  }
  if ((url.pathname.startsWith('/private/') || isWrite) && password !== token) {
    return void response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
  }
  if (url.pathname.endsWith('/info/lfs/objects/batch')) {
    return void response.writeHead(200, { 'content-type': 'application/vnd.git-lfs+json' }).end('{"objects":[]}');
  }
  const backend = spawn('git', ['-c', 'http.receivepack=true', 'http-backend'], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      ...(request.headers['content-length'] && { CONTENT_LENGTH: request.headers['content-length'] }),
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      REMOTE_USER: 'user',
    },
  });
  request.pipe(backend.stdin).on('error', () => {});
  passOn(backend.stdout, response);
}

/** A CGI program's answer: headers, an empty line, the body. */
function passOn(output: NodeJS.ReadableStream, response: ServerResponse): void {
  let head = Buffer.alloc(0);
  const onData = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    output.off('data', onData);
    const headers = head
      .subarray(0, end)
      .toString()
      .split('\r\n')
      .map((line) => line.split(': ') as [string, string]);
    const status = headers.find(([name]) => name === 'Status')?.[1];
    response.writeHead(status ? Number.parseInt(status, 10) : 200, Object.fromEntries(headers.filter(([name]) => name !== 'Status')));
    response.write(head.subarray(end + 4));
    output.pipe(response);
  };
  output.on('data', onData);
}
