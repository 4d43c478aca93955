import { Braces, Copy, History, Link2, PanelRightOpen } from 'lucide-react';
import { Suspense, useState } from 'react';
import { type TabName, useConversationActs, WATCHED_TABS } from '../conversation/open-conversation.ts';
import { elapsed } from '../copy/figures.ts';
import { paths } from '../lib/paths.ts';
import { tendon } from '../lib/server.ts';
import { useNow } from '../lib/use-now.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { RestoreHere } from '../conversation/restore-here.tsx';
import { RowLine } from './row-line.tsx';
import { cardOf } from './cards/card-of.tsx';
import type { Card } from './cards/card.tsx';
import type { RowPlace } from './item-row.tsx';
import type { StepItem } from './stream-item.ts';
import type { Folds } from './use-folds.ts';
import { t } from '../lib/language/text.ts';
import { lazyPart } from '../lib/lazy-part.ts';

const DelegatedThread = lazyPart(async () => ({ default: (await import('./delegated-thread.tsx')).DelegatedThread }));

export type Runs = 'known' | 'unknown' | false;

export interface StepRowProps extends RowPlace {
  readonly step: StepItem;
  readonly isNewest: boolean;
  /** It failed, and so did a later step of its turn: closed, its row says enough. */
  readonly isPastFailure: boolean;
  /** It failed with the output of the failure before it. */
  readonly isRepeated: boolean;
  /** It began and has not ended; `unknown`: nobody knows whether it still runs. */
  readonly runs: Runs;
  readonly live: string | undefined;
  readonly folds: Folds;
}

/** Who approved it, rejected it or asked for it, where the server has users. */
function DecidedBy({ step: { action } }: { readonly step: StepItem }) {
  if (!action?.author) return null;
  const { name } = action.author;
  const decision = 'confirmation_state' in action.args && action.source === 'agent' ? action.args.confirmation_state : undefined;
  if (decision === 'confirmed') return <span>{t('approved by {{name}}', { name })}</span>;
  return <span>{decision === 'rejected' ? t('rejected by {{name}}', { name }) : name}</span>;
}

/** One step: a row with its icon in the gutter, and a body that hangs from the text edge. */
export function StepRow({ step, position, size, isNewest, isPastFailure, isRepeated, runs, live, folds }: StepRowProps) {
  const card = cardOf(step, live);
  const [isRestoring, setRestoring] = useState(false);
  const [isNear, setNear] = useState(false);
  const isShown = card.open !== 'never' && (isNewest || (card.open === 'always' && !isPastFailure));
  const isOpen = card.body !== undefined && folds.isOpen(step.key, isShown);
  return (
    <article
      className="event"
      id={`event-${step.id}`}
      data-tone={card.tone}
      tabIndex={-1}
      aria-label={isRepeated ? `${card.name}, ${t('same as before')}` : card.name}
      aria-posinset={position}
      aria-setsize={size}
      onPointerEnter={() => setNear(true)}
      onFocus={() => setNear(true)}
    >
      <span className="gutter">{card.icon && <Icon of={card.icon} />}</span>
      <div className="min-w-0">
        <div className="event-head">
          <RowLine card={card} hasBody={card.body !== undefined} isOpen={isOpen} onToggle={() => folds.set(step.key, !isOpen)}>
            {isRepeated && <span>{t('same as before')}</span>}
            <DecidedBy step={step} />
            {runs && <Running since={Date.parse(step.at)} isKnown={runs === 'known'} />}
          </RowLine>
          <Acts step={step} card={card} isNear={isNear} isRestoring={isRestoring} onRestore={() => setRestoring(!isRestoring)} />
        </div>
        {isOpen && (
          <div className="event-body">
            {card.body!()}
            {step.action?.action === 'delegate' && (
              <Suspense>
                <DelegatedThread step={step} />
              </Suspense>
            )}
          </div>
        )}
        {isRestoring && (
          <RestoreHere
            actionId={step.action?.id ?? step.id}
            before={step.action?.source === 'agent' ? step.action.id : undefined}
            main="files"
            words={t('Back to before this step.')}
            fork={{
              lastId: step.observation?.id ?? step.id,
              words: t('Or leave this as it is, and go on from after this step in a second conversation with a folder of its own.'),
            }}
            onDone={() => setRestoring(false)}
          />
        )}
      </div>
    </article>
  );
}

/** Without a connection nobody knows whether it still does. */
function Running({ since, isKnown }: { readonly since: number; readonly isKnown: boolean }) {
  const now = useNow(isKnown);
  if (!isKnown) return <span>{t('was running')}</span>;
  const past = now - since;
  return <span>{past >= 1000 ? t('running {{time}}', { time: elapsed(past) }) : t('running')}</span>;
}

const TABS: Readonly<Record<string, TabName>> = {
  ...{ run: 'terminal', run_ipython: 'notebook', browse: 'browser', browse_interactive: 'browser' },
  ...{ edit: 'changes', write: 'changes', task_tracking: 'plan' },
};

interface ActsProps {
  readonly step: StepItem;
  readonly card: Card;
  /** It was pointed at or had the focus: until then nobody sees its icons, which would be half of what a new row is made of. */
  readonly isNear: boolean;
  readonly isRestoring: boolean;
  readonly onRestore: () => void;
}

function Acts({ step, card, isNear, isRestoring, onRestore }: ActsProps) {
  const { id, show, isWatched } = useConversationActs();
  const tab = TABS[step.action?.action ?? ''];
  const isOffered = tab !== undefined && (!isWatched || WATCHED_TABS.includes(tab));
  return (
    <div className="event-acts">
      {card.copy && (
        <IconButton small label={t('Copy')} onClick={() => void navigator.clipboard.writeText(card.copy!)}>
          {isNear && <Icon of={Copy} small />}
        </IconButton>
      )}
      <IconButton
        small
        label={t('Copy link')}
        onClick={() => void navigator.clipboard.writeText(tendon.baseUrl + paths.event(id, step.id))}
      >
        {isNear && <Icon of={Link2} small />}
      </IconButton>
      {step.action && !isWatched && (
        <IconButton small label={t('Restore to here')} aria-expanded={isRestoring} onClick={onRestore}>
          {isNear && <Icon of={History} small />}
        </IconButton>
      )}
      {isOffered && (
        <IconButton small label={t('Show in workbench')} onClick={() => show({ tab, eventId: step.observation?.id ?? step.id })}>
          {isNear && <Icon of={PanelRightOpen} small />}
        </IconButton>
      )}
      <IconButton small label={t('View source')} onClick={() => show({ tab: 'raw', eventId: step.observation?.id ?? step.id })}>
        {isNear && <Icon of={Braces} small />}
      </IconButton>
    </div>
  );
}
