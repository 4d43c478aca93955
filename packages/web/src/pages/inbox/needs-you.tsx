import { useEffect, useRef } from 'react';
import { QuestionCard } from './question-card.tsx';
import { NetworkQuestion } from './network-question.tsx';
import { askingOf, useBadge, useQuestions, useWaitingHosts } from './use-questions.ts';
import { t } from '../../lib/language/text.ts';

/** Everything that waits for a person, answered where it stands. */
export function NeedsYou({ onAsking }: { readonly onAsking: (ids: ReadonlySet<string>) => void }) {
  const questions = useQuestions();
  const asking = [...askingOf(questions)].join(' ');
  useEffect(() => onAsking(new Set(asking.split(' '))), [asking, onAsking]);
  const hosts = useWaitingHosts();
  const count = questions.length + hosts.length;
  useBadge(count);
  const heading = useRef<HTMLHeadingElement>(null);
  if (count === 0) return null;
  return (
    <section className="needs-you" aria-labelledby="needs-you-heading">
      <h2 id="needs-you-heading" ref={heading} tabIndex={-1}>
        {t('Needs you')} <span className="font-normal text-ink-3">{count}</span>
      </h2>
      <ul>
        {hosts.map((waiting) => (
          <li key={`${waiting.info.conversation_id} ${waiting.question.host}`}>
            <NetworkQuestion waiting={waiting} onAnswered={() => heading.current?.focus()} />
          </li>
        ))}
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
