import { Braces, Copy, Link2, PanelRightOpen } from 'lucide-react';
import { useConversation, type TabName } from '../conversation/conversation-context.ts';
import { useNow } from '../lib/use-now.ts';
import { paths } from '../lib/paths.ts';
import { IconButton } from '../ui/button.tsx';
import { cx } from '../ui/cx.ts';
import { Icon } from '../ui/icon.tsx';
import { elapsed } from '../copy/times.ts';
import type { Face } from './cards/card.ts';
import { faceOf } from './cards/card-of.ts';
import type { RowPlace } from './item-row.tsx';
import { isPending } from './outcome.ts';
import type { StepItem } from './stream-item.ts';
import type { Folds } from './use-folds.ts';

export interface StepRowProps extends RowPlace {
  readonly step: StepItem;
  readonly isNewest: boolean;
  readonly live: string | undefined;
  readonly folds: Folds;
}

/** One step: a row with its icon in the gutter, and a body that hangs from the text edge. */
export function StepRow({ step, position, size, isNewest, live, folds }: StepRowProps) {
  const face = faceOf(step, live);
  const { snapshot } = useConversation();
  const isRunning = isPending(step) && isNewest && snapshot.state.agentState === 'running';
  const isOpen = face.body !== undefined && folds.isOpen(step.key, face.open === 'always' || (face.open === 'newest' && isNewest));
  return (
    <article
      className="event"
      id={`event-${step.id}`}
      data-tone={face.tone}
      tabIndex={-1}
      aria-label={face.name}
      aria-posinset={position}
      aria-setsize={size}
    >
      <span className="gutter">{face.icon && <Icon of={face.icon} />}</span>
      <div className="min-w-0">
        <div className="event-head">
          <RowLine face={face} isOpen={isOpen} onToggle={() => folds.set(step.key, !isOpen)}>
            {isRunning && <Running since={Date.parse(step.at)} />}
          </RowLine>
          <Acts step={step} face={face} />
        </div>
        {isOpen && <div className="event-body">{face.body!()}</div>}
      </div>
    </article>
  );
}

function RowLine(props: {
  readonly face: Face;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly children: React.ReactNode;
}) {
  const { face, isOpen, onToggle, children } = props;
  const line = (
    <>
      {face.verb && (
        <span className="verb" data-strong={face.strong}>
          {face.verb}
        </span>
      )}
      {face.object && <span className="object mono">{face.object}</span>}
      {face.detail && (
        <span className="detail" data-keep={face.strong ? '' : undefined}>
          {face.detail}
        </span>
      )}
      <span className="facts">
        {face.facts.map((fact) => (
          <span key={fact.text} className={cx(fact.tone && `tone-${fact.tone}`, fact.isJoined && '-ml-1.5')}>
            {fact.text}
          </span>
        ))}
        {children}
      </span>
    </>
  );
  if (!face.body) return <div className="event-row">{line}</div>;
  return (
    <button type="button" className="event-row" aria-expanded={isOpen} onClick={onToggle}>
      {line}
    </button>
  );
}

function Running({ since }: { readonly since: number }) {
  const now = useNow(true);
  const past = now - since;
  return <span>{past >= 1000 ? `running ${elapsed(past)}` : 'running'}</span>;
}

const TABS: Readonly<Record<string, TabName>> = { run: 'terminal', edit: 'changes', write: 'changes', task_tracking: 'plan' };

function Acts({ step, face }: { readonly step: StepItem; readonly face: Face }) {
  const { id, show } = useConversation();
  const tab = TABS[step.action?.action ?? ''];
  return (
    <div className="event-acts">
      {face.copy && (
        <IconButton small label="Copy" onClick={() => void navigator.clipboard.writeText(face.copy!)}>
          <Icon of={Copy} small />
        </IconButton>
      )}
      <IconButton small label="Copy link" onClick={() => void navigator.clipboard.writeText(location.origin + paths.event(id, step.id))}>
        <Icon of={Link2} small />
      </IconButton>
      {tab && (
        <IconButton small label="Show in workbench" onClick={() => show({ tab, eventId: step.observation?.id ?? step.id })}>
          <Icon of={PanelRightOpen} small />
        </IconButton>
      )}
      <IconButton small label="Show JSON" onClick={() => show({ tab: 'raw', eventId: step.observation?.id ?? step.id })}>
        <Icon of={Braces} small />
      </IconButton>
    </div>
  );
}
