/** Whether a provider answered so because it was asked too often. GitHub says that with 403 as well. */
export function isLimited({ status, headers }: Response): boolean {
  return status === 429 || (status === 403 && (headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after')));
}
