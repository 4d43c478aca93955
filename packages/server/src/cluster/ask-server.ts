import type { Secret } from '@tendon/protocol/masking';
import { z } from 'zod';
import { HopSignature } from './hop-signature.ts';
import { PeerHttp } from './peer-http.ts';
import { sendQuestion } from './send-question.ts';

/** What a server reports about itself to the others of its cluster. */
export const AboutServer = z.object({
  version: z.string(),
  /** Why it takes no work; `null` when it does. */
  problem: z.string().nullable(),
  sandbox: z.string(),
});
export type AboutServer = z.output<typeof AboutServer>;

export type AskedServer =
  | { readonly state: 'answered'; readonly about: AboutServer; readonly ms: number }
  /** Something answers there, but it does not accept our signature, or is not a Tendon server of this release. */
  | { readonly state: 'refused'; readonly status: number }
  | { readonly state: 'unreachable'; readonly reason: string };

const ANSWER_MS = 5_000;

/** Asks a server about itself as another server of its cluster does. Never rejects. `now` in milliseconds. */
export async function askServerOf(jwtSecret: Secret, url: string, now: number): Promise<AskedServer> {
  const peers = new PeerHttp();
  const began = performance.now();
  try {
    const question = { question: 'server/about', body: '{}', from: 'doctor', now, timeoutMs: ANSWER_MS } as const;
    const { status, body } = await sendQuestion(peers, new HopSignature(jwtSecret), url, question);
    if (status !== 200) return { state: 'refused', status };
    return { state: 'answered', about: AboutServer.parse(JSON.parse(body)), ms: performance.now() - began };
  } catch (cause) {
    return { state: 'unreachable', reason: cause instanceof Error ? cause.message : String(cause) };
  } finally {
    peers.close();
  }
}
