import { X } from 'lucide-react';
import { useMutation } from '@tanstack/react-query';
import type { Action, NetworkQuestion, QuestionAnswer } from '@tendon/protocol';
import { openDecision, useConversation } from '../conversation/open-conversation.ts';
import { canSendNow } from '../conversation/send-now.ts';
import type { StateNow } from '../conversation/state-now.ts';
import { IconButton, Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Decision, useIsNew } from './decision.tsx';
import { DelegatedQuestionCard } from './delegated-question.tsx';
import { MessageComposer } from './message-composer.tsx';
import { StateLine } from './state-line.tsx';
import { useCommands } from '../lib/commands.ts';
import { tendon } from '../lib/server.ts';
import { t } from '../lib/language/text.ts';

/** The state, what must be decided, and where to speak: one box, so that "yes", "no" and "rather this" are one place. */
export function ComposerBox({ sentence }: { readonly sentence: StateNow }) {
  const { snapshot } = useConversation();
  const { agentState, lastUserMessageId } = snapshot.state;
  return (
    <div className="composer-box">
      <StateLine sentence={sentence} />
      <Notices />
      <MessageComposer
        agentState={agentState}
        lastUserMessageId={lastUserMessageId}
        hasDecision={openDecision(snapshot.state) !== undefined}
        canStop={canSendNow(snapshot)}
        above={QUESTIONS}
      />
    </div>
  );
}

const QUESTIONS = <Questions />;

/** What waits for a person, above the field. */
function Questions() {
  const { snapshot } = useConversation();
  const decision = openDecision(snapshot.state);
  const [question, ...later] = snapshot.questions ?? [];
  return (
    <>
      {question && <NetworkQuestionCard key={`${question.host} ${question.asked_at}`} question={question} more={later.length} />}
      {!decision && <DelegatedQuestionCard />}
      {decision && <OwnDecision key={decision.id} action={decision} />}
    </>
  );
}

/** Decided by the event that is shown: another action that waits by then is not decided unseen (SV1000). */
function OwnDecision({ action }: { readonly action: Action }) {
  const { id } = useConversation();
  const send = useMutation({
    mutationFn: (given: Omit<QuestionAnswer, 'event_id'>) => tendon.conversations.answer(id, { ...given, event_id: action.id }),
  });
  const decide = (given: Omit<QuestionAnswer, 'event_id'>) => void (!send.isPending && send.mutate(given));
  return (
    <>
      <Decision
        action={action}
        onApprove={(edited) => decide({ answer: 'approve', ...(edited !== undefined && { edited }) })}
        onReject={(text) => decide({ answer: 'reject', text })}
      />
      {send.error && (
        <p role="alert" className="px-3.5 text-small text-bad">
          {send.error.message}
        </p>
      )}
    </>
  );
}

/** What the server answered to something sent from here, where it was sent from. */
function Notices() {
  const { snapshot, connection } = useConversation();
  const notice = snapshot.notices.at(-1);
  if (!notice) return null;
  return (
    <p role="alert" className="flex items-center gap-2 pb-2 pl-1 text-bad">
      <span className="flex-1">{notice.message}</span>
      <IconButton small label={t('Dismiss')} onClick={() => connection.dismiss(notice.id)}>
        <Icon of={X} small />
      </IconButton>
    </p>
  );
}

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
function NetworkQuestionCard({ question: { host, port }, more }: NetworkQuestionCardProps) {
  const { id } = useConversation();
  const isNew = useIsNew();
  const send = useMutation({
    mutationFn: (answer: Answer) =>
      answer === 'always' ? tendon.conversations.allowAlways(id, host) : tendon.conversations.answerNetwork(id, { host, answer }),
    // The card goes with its question.
    onSuccess: () => document.getElementById('composer')?.focus(),
  });
  const act = (answer: Answer) => (): void => void (!isNew && !send.isPending && send.mutate(answer));
  // Without the host, which the sandbox chose and the card shows whole: a long one would hide what is allowed.
  useCommands('network-question', [
    { id: 'network-once', title: t('Network: allow once'), group: 'Here', run: act('once') },
    { id: 'network-always', title: t('Network: always allow'), group: 'Here', run: act('always') },
    { id: 'network-refuse', title: t('Network: refuse'), group: 'Here', run: act('refuse') },
  ]);
  return (
    <section className="decision" aria-label={t('Network question')}>
      <div role="alert">
        <h2>
          <span className="min-w-0 flex-1 wrap-anywhere">{t('The sandbox wants to reach {{host}}:{{port}}', { host, port })}</span>
        </h2>
      </div>
      <p>
        {t(
          'It is on no list. Allowing it opens this name at the ports 22, 80 and 443: what is sent there leaves this machine. Once is for this conversation, always for every conversation of this server; a refusal is for good in this conversation.',
        )}
      </p>
      {more > 0 && <p className="text-small">{t('{{more}} more after this', { more })}</p>}
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
      </div>
      {send.error && (
        <p role="alert" className="pt-1 text-small text-bad">
          {send.error.message}
        </p>
      )}
    </section>
  );
}
