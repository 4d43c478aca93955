/** A request of git's smart HTTP protocol or of LFS: `http://git.tendon.internal/<host>/<repository>/…`. */
export interface GitRequest {
  readonly host: string;
  /** Without slashes around it and without `.git`. */
  readonly repository: string;
  /** Path and query for the host itself. */
  readonly path: string;
  /** What it begins; `more` continues what was begun. */
  readonly operation: 'fetch' | 'push' | 'lfs' | 'more';
}

const SHAPE =
  /^\/(?<host>[a-z0-9.-]+(?::\d{1,5})?)(?<path>\/(?<repository>[\w.~+/-]+?)(?:\.git)?\/(?<call>info\/refs|git-upload-pack|git-receive-pack|info\/lfs\/objects\/batch|info\/lfs\/locks(?:\/verify|\/[\w-]+\/unlock)?))$/;

/** Total; `undefined` for everything else that a web server answers, so that a token opens nothing but repositories. */
export function readGitRequest(method: string, url: URL): GitRequest | undefined {
  const { host, path, repository, call } = SHAPE.exec(url.pathname)?.groups ?? {};
  if (host === undefined || path === undefined || repository === undefined || call === undefined) return undefined;
  if (call === 'info/refs') {
    const service = url.searchParams.get('service');
    if (method !== 'GET' || (service !== 'git-upload-pack' && service !== 'git-receive-pack')) return undefined;
    return { host, repository, path: `${path}?service=${service}`, operation: service === 'git-receive-pack' ? 'push' : 'fetch' };
  }
  const isLockList = call === 'info/lfs/locks' && method === 'GET';
  if (method !== 'POST' && !isLockList) return undefined;
  const query = call.startsWith('info/lfs/') ? url.search : '';
  return { host, repository, path: path + query, operation: call === 'info/lfs/objects/batch' ? 'lfs' : 'more' };
}
