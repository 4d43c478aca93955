import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { HOP_HEADER, type HopSignature } from './hop-signature.ts';
import { questionPath, type PeerQuestion } from './peer-answers.ts';
import type { PeerHttp } from './peer-http.ts';

interface SignedQuestion {
  readonly question: PeerQuestion;
  readonly body: string;
  /** The id of the server that asks. */
  readonly from: string;
  /** In milliseconds. */
  readonly now: number;
  readonly timeoutMs: number;
}

/** Sends a signed question to the server at this address. Rejects when it does not answer in time. */
export async function sendQuestion(
  http: PeerHttp,
  signature: HopSignature,
  url: string,
  { question, body, from, now, timeoutMs }: SignedQuestion,
): Promise<{ readonly status: number; readonly body: string }> {
  const path = questionPath(question, body);
  const { host } = new URL(url);
  const signed = signature.sign({ method: 'POST', url: path, headers: { host } }, { from, client: '' }, now);
  const asked = http.request(
    { url },
    {
      method: 'POST',
      path,
      headers: { host, [HOP_HEADER]: signed, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      signal: AbortSignal.timeout(timeoutMs),
    },
  );
  asked.end(body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return { body: await text(answer), status: answer.statusCode ?? 0 };
}
