import type { AskPerson } from '../egress/egress.ts';
import { plainName } from '../egress/network-policy.ts';
import type { HostQuestion } from '../executor-host-api.ts';
import type { ExecutorClient } from './executor-client.ts';

export interface QuestionAnswerer {
  /** A connection waits for the answer. One that is being asked already is passed over. Never throws. */
  take(question: HostQuestion): void;
}

export interface QuestionAnswererOptions {
  readonly client: Pick<ExecutorClient, 'answerQuestion'>;
  /** Default: the policy alone decides. */
  readonly ask: AskPerson | undefined;
  readonly conversationId: string;
  /** Sends the host the policy as it is now. */
  readonly sendNetwork: () => Promise<void>;
}

const MAX_QUESTIONS = 64;

/**
 * Asks a person what a sandbox on another host wants to reach, as if it were here. An answer changes the policy, which the host has before
 * it is answered: the connection that waits there finds it changed. What is lost on the way the host sends once more.
 */
export function createQuestionAnswerer({ client, ask, conversationId, sendNetwork }: QuestionAnswererOptions): QuestionAnswerer {
  const open = new Set<string>();

  async function answer({ id, host, port }: HostQuestion): Promise<void> {
    try {
      const refusal = await ask?.(conversationId, { host: plainName(host), port });
      if (refusal === undefined) await sendNetwork();
      await client.answerQuestion(id, refusal);
    } catch {
      // The connection that waited is gone, or its host for now.
    } finally {
      open.delete(id);
    }
  }

  return {
    take(question) {
      if (open.has(question.id) || open.size >= MAX_QUESTIONS) return;
      open.add(question.id);
      void answer(question);
    },
  };
}
