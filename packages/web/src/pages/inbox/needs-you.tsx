import { useRef } from 'react';
import { QuestionCard } from './question-card.tsx';
import { useQuestions } from './use-questions.ts';
import { t } from '../../lib/language/text.ts';

/** Everything that waits for a person, answered where it stands. */
export function NeedsYou() {
  const questions = useQuestions();
  const heading = useRef<HTMLHeadingElement>(null);
  if (questions.length === 0) return null;
  return (
    <section className="needs-you" aria-labelledby="needs-you-heading">
      <h2 id="needs-you-heading" ref={heading} tabIndex={-1}>
        {t('Needs you')} <span className="font-normal text-ink-3">{questions.length}</span>
      </h2>
      <ul>
        {questions.map((question) => (
          <li key={`${question.info.conversation_id} ${question.eventId}`}>
            {/* What was pressed goes with its question. */}
            <QuestionCard question={question} onAnswered={() => heading.current?.focus()} />
          </li>
        ))}
      </ul>
    </section>
  );
}
