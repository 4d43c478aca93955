import { useMutation } from '@tanstack/react-query';
import type { NetworkQuestion } from '@tendon/protocol';
import type { ReactNode } from 'react';
import { useConversationActs } from '../conversation/open-conversation.ts';
import { useCommands } from '../lib/commands.ts';
import { t } from '../lib/language/text.ts';
import { tendon } from '../lib/server.ts';
import { Button } from '../ui/button.tsx';
import { useIsNew } from './decision.tsx';

type Answer = 'once' | 'always' | 'refuse';

interface NetworkQuestionCardProps {
  readonly question: NetworkQuestion;
  /** Questions that come after this one. */
  readonly more: number;
}

/**
 * A host that is on no list, in the server's spelling. The sandbox decides when it appears: its buttons are dead while it is new, and it
 * never takes the focus.
 */
export function NetworkQuestionCard({ question: { host, port }, more }: NetworkQuestionCardProps) {
  const { id } = useConversationActs();
  // The card goes with its question.
  const answer = useNetworkAnswer(id, host, () => document.getElementById('composer')?.focus());
  // Without the host, which the sandbox chose and the card shows whole: a long one would hide what is allowed.
  useCommands('network-question', [
    { id: 'network-once', title: t('Network: allow once'), group: 'Here', run: answer.act('once') },
    { id: 'network-always', title: t('Network: always allow'), group: 'Here', run: answer.act('always') },
    { id: 'network-refuse', title: t('Network: refuse'), group: 'Here', run: answer.act('refuse') },
  ]);
  return (
    <section className="decision" aria-label={t('Network question')}>
      <div role="alert">
        <h2>
          <span className="min-w-0 flex-1 wrap-anywhere">{t('The sandbox wants to reach {{host}}:{{port}}', { host, port })}</span>
        </h2>
      </div>
      <p>{networkConsequence()}</p>
      {more > 0 && <p className="text-small">{t('{{more}} more after this', { more })}</p>}
      <NetworkAnswers answer={answer} />
    </section>
  );
}

export function networkConsequence(): string {
  return t(
    'It is on no list. Allowing it opens this name at the ports 22, 80 and 443: what is sent there leaves this machine. Once is for this conversation, always for every conversation of this server; a refusal is for good in this conversation.',
  );
}

/** What a person decides about a host, in the conversation and in the list of all questions. */
export function useNetworkAnswer(id: string, host: string, onAnswered: () => void) {
  const isNew = useIsNew();
  const send = useMutation({
    mutationFn: (answer: Answer) =>
      answer === 'always' ? tendon.conversations.allowAlways(id, host) : tendon.conversations.answerNetwork(id, { host, answer }),
    onSuccess: onAnswered,
  });
  return {
    isNew,
    error: send.error,
    act: (answer: Answer) => (): void => void (!isNew && !send.isPending && send.mutate(answer)),
  };
}

interface NetworkAnswersProps {
  readonly answer: ReturnType<typeof useNetworkAnswer>;
  /** Beside the answers. */
  readonly children?: ReactNode;
}

export function NetworkAnswers({ answer: { isNew, error, act }, children }: NetworkAnswersProps) {
  return (
    <>
      <div className="decision-acts">
        <Button look="line" aria-disabled={isNew} onClick={act('once')}>
          {t('Allow once')}
        </Button>
        <Button look="line" aria-disabled={isNew} onClick={act('always')}>
          {t('Always')}
        </Button>
        <Button look="line" aria-disabled={isNew} onClick={act('refuse')}>
          {t('Refuse')}
        </Button>
        {children}
      </div>
      {error && (
        <p role="alert" className="pt-1 text-small text-bad">
          {error.message}
        </p>
      )}
    </>
  );
}
