import type { ReactNode } from 'react';
import { cx } from '../ui/cx.ts';
import type { CardRow } from './cards/card.tsx';

/** What a step is in one line; with a body it is the button that opens it. */
export function RowLine(props: {
  readonly card: CardRow;
  readonly hasBody: boolean;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly children: ReactNode;
}) {
  const { card, hasBody, isOpen, onToggle, children } = props;
  const line = (
    <>
      {card.verb && (
        <span className="verb" data-strong={card.strong}>
          {card.verb}
        </span>
      )}
      {card.object && <span className="object mono">{card.object}</span>}
      {card.detail && (
        <span className="detail" data-keep={card.strong ? '' : undefined}>
          {card.detail}
        </span>
      )}
      <span className="facts">
        {card.facts.map((fact) => (
          <span key={fact.text} className={cx(fact.tone && `tone-${fact.tone}`, fact.isJoined && '-ml-1.5')}>
            {fact.text}
          </span>
        ))}
        {children}
      </span>
    </>
  );
  if (!hasBody) return <div className="event-row">{line}</div>;
  return (
    <button type="button" className="event-row" aria-expanded={isOpen} onClick={onToggle}>
      {line}
    </button>
  );
}

/** Without a connection nobody knows whether it still does. */
