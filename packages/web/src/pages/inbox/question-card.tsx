import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { QuestionAnswer } from '@tendon/protocol';
import { type ReactNode, Suspense, useId, useState } from 'react';
import { actionRisk, decisionWords, RiskChip, useIsNew } from '../../composer/decision.tsx';
import { ago } from '../../copy/figures.ts';
import { messageWords } from '../../copy/question-words.ts';
import { paths } from '../../lib/paths.ts';
import { tendon } from '../../lib/server.ts';
import { Button } from '../../ui/button.tsx';
import { StateGlyph } from '../../ui/icon.tsx';
import { focusOnMount } from '../../ui/popup.tsx';
import type { WaitingQuestion } from './use-questions.ts';
import { Link } from '../../ui/link.tsx';
import { t, textKey } from '../../lib/language/text.ts';
import { lazyPart } from '../../lib/lazy-part.ts';

interface QuestionCardProps {
  readonly question: WaitingQuestion;
  readonly onAnswered: () => void;
}

const DONE = { approve: textKey('Approved'), reject: textKey('Rejected'), reply: textKey('Sent') } as const;

/** One question with its conversation; the answer names its event, so it can be about nothing else. */
export function QuestionCard({ question: { info, eventId, action }, onAnswered }: QuestionCardProps) {
  const queries = useQueryClient();
  const { conversation_id: id, title } = info;
  const send = useMutation({
    mutationFn: (given: Omit<QuestionAnswer, 'event_id'>) => tendon.conversations.answer(id, { ...given, event_id: eventId }),
    onSuccess: onAnswered,
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ['question', id] });
      await queries.invalidateQueries({ queryKey: ['conversations'] });
    },
  });
  const titleId = useId();
  const isMessage = action.action === 'message';
  const words: ReturnType<typeof decisionWords> & { readonly name?: string } = isMessage
    ? messageWords(action.args)
    : decisionWords(action);
  const { question, whole, consequence, name = question } = words;
  return (
    <article className="question-card decision" aria-label={`${name} ${title}`}>
      <h3>
        <StateGlyph glyph="waiting" />
        <span className="question-words">{question}</span>
        {!isMessage && <RiskChip risk={actionRisk(action)} />}
        <span id={titleId} className="question-title truncate text-small">
          {title}
        </span>
        <time className="text-small text-ink-3" dateTime={info.last_updated_at} title={info.last_updated_at}>
          {ago(info.last_updated_at, Date.now())}
        </time>
      </h3>
      {whole !== '' && <Whole text={whole} isProse={isMessage} />}
      {consequence !== '' && <p>{consequence}</p>}
      {send.isSuccess || send.isPending ? (
        <p role="status">{t(send.isSuccess ? DONE[send.variables.answer] : 'Sending')}</p>
      ) : (
        <Answers choices={isMessage ? (action.args.choices ?? []) : undefined} onAnswer={send.mutate}>
          <Link className="button" to={paths.conversation(id)} aria-describedby={titleId}>
            {t('Open')}
          </Link>
        </Answers>
      )}
      {send.error && (
        <p role="alert" className="text-bad">
          {send.error.message}
        </p>
      )}
    </article>
  );
}

/** Most questions need it not. */
const Prose = lazyPart(async () => ({ default: (await import('../../code/prose.tsx')).Prose }));

/** All of what is asked. */
function Whole({ text, isProse }: { readonly text: string; readonly isProse: boolean }) {
  const plain = <pre>{text}</pre>;
  return (
    <div className="question-whole scroll" data-prose={isProse || undefined} tabIndex={0} role="group" aria-label={t('All of it')}>
      {isProse ? (
        <Suspense fallback={plain}>
          <Prose text={text} />
        </Suspense>
      ) : (
        plain
      )}
    </div>
  );
}

interface AnswersProps {
  /** Of a question; an action that waits has none. */
  readonly choices: readonly string[] | undefined;
  readonly onAnswer: (given: Omit<QuestionAnswer, 'event_id'>) => void;
  /** The way to the conversation itself. */
  readonly children: ReactNode;
}

function Answers({ choices, onAnswer, children }: AnswersProps) {
  const isNew = useIsNew();
  const [isWriting, setWriting] = useState(false);
  /** What was pressed for something else answers nothing. */
  const answer = (given: Omit<QuestionAnswer, 'event_id'>) => !isNew && onAnswer(given);
  if (isWriting) {
    return choices ? (
      <TextForm label={t('Reply')} onSend={(text) => onAnswer({ answer: 'reply', text })} onBack={() => setWriting(false)} />
    ) : (
      <TextForm
        label={t('Reject')}
        field={t('Why? (optional)')}
        onSend={(text) => onAnswer({ answer: 'reject', text })}
        onBack={() => setWriting(false)}
      />
    );
  }
  return (
    <div className="decision-acts">
      {choices?.map((choice) => (
        <Button
          key={choice}
          look="line"
          className="button-whole"
          aria-disabled={isNew}
          onClick={() => answer({ answer: 'reply', text: choice })}
        >
          {choice}
        </Button>
      ))}
      {!choices && (
        <Button look="line" aria-disabled={isNew} onClick={() => answer({ answer: 'approve' })}>
          {t('Approve')}
        </Button>
      )}
      <Button look="line" onClick={() => setWriting(true)}>
        {choices ? t('Reply') : t('Reject')}
      </Button>
      {children}
    </div>
  );
}

interface TextFormProps {
  readonly label: string;
  /** What may be left empty. */
  readonly field?: string;
  readonly onSend: (text: string) => void;
  readonly onBack: () => void;
}

function TextForm({ label, field, onSend, onBack }: TextFormProps) {
  const [text, setText] = useState('');
  const isWhole = field !== undefined || text.trim() !== '';
  return (
    <form
      className="decision-acts"
      onSubmit={(event) => {
        event.preventDefault();
        if (isWhole) onSend(text.trim());
      }}
    >
      <input
        className="field flex-1"
        aria-label={field ?? t('Your reply')}
        placeholder={field ?? t('Your reply')}
        value={text}
        ref={focusOnMount}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && onBack()}
      />
      <Button type="submit" look="line" disabled={!isWhole}>
        {label}
      </Button>
      <Button onClick={onBack}>{t('Back')}</Button>
    </form>
  );
}
