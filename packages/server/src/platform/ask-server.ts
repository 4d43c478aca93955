import type { FoundServer } from './server-address.ts';

export interface ServerAnswer {
  readonly status: number;
  readonly ok: boolean;
  /** `{}` where the answer is no JSON. */
  readonly body: { readonly message?: unknown };
}

/** One request of a command to the server that runs on its home. Rejects with an Error whose message can be shown when it does not answer. */
export async function askServer(
  { url, headers }: FoundServer,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  { body, deadlineMs }: { readonly body?: object | undefined; readonly deadlineMs: number },
): Promise<ServerAnswer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(deadlineMs),
  }).catch((cause: unknown) => {
    throw new Error(`The server at ${url} does not answer.`, { cause });
  });
  const answer = (await response.json().catch(() => ({}))) as ServerAnswer['body'];
  return { status: response.status, ok: response.ok, body: answer };
}
