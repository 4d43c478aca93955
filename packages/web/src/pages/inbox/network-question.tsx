import { useQueryClient } from '@tanstack/react-query';
import { useId } from 'react';
import { NetworkAnswers, networkConsequence, useNetworkAnswer } from '../../composer/network-question.tsx';
import { ago } from '../../copy/figures.ts';
import { t } from '../../lib/language/text.ts';
import { paths } from '../../lib/paths.ts';
import { StateGlyph } from '../../ui/icon.tsx';
import { Link } from '../../ui/link.tsx';
import type { WaitingHost } from './use-questions.ts';

interface NetworkQuestionProps {
  readonly waiting: WaitingHost;
  readonly onAnswered: () => void;
}

/** A host that a sandbox wants to reach, with the conversation that it works for. */
export function NetworkQuestion({ waiting: { info, question }, onAnswered }: NetworkQuestionProps) {
  const queries = useQueryClient();
  const { conversation_id: id, title } = info;
  const { host, port, asked_at: asked } = question;
  const answer = useNetworkAnswer(id, host, () => {
    onAnswered();
    void queries.invalidateQueries({ queryKey: ['conversations'] });
  });
  const titleId = useId();
  const words = t('The sandbox wants to reach {{host}}:{{port}}', { host, port });
  return (
    <article className="question-card decision" aria-label={`${words} ${title}`}>
      <h3>
        <StateGlyph glyph="waiting" />
        <span className="question-words wrap-anywhere">{words}</span>
        <span id={titleId} className="question-title truncate text-small">
          {title}
        </span>
        <time className="text-small text-ink-3" dateTime={asked} title={asked}>
          {ago(asked, Date.now())}
        </time>
      </h3>
      <p>{networkConsequence()}</p>
      <NetworkAnswers answer={answer}>
        <Link className="button" to={paths.conversation(id)} aria-describedby={titleId}>
          {t('Open')}
        </Link>
      </NetworkAnswers>
    </article>
  );
}
