import type { Action } from '@tendon/protocol';
import { ShieldAlert } from 'lucide-react';
import { useEffect, useState } from 'react';
import { count } from '../copy/counts.ts';
import { useCommands } from '../lib/commands.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { focusOnMount } from '../ui/popup.tsx';
import { decisionWords } from './decision-words.ts';

const LONG = 12;

/**
 * The action is shown whole. Keys are dead while it is new, so that what was typed for something else approves nothing;
 * at high risk approving has no key at all. It never takes the focus.
 */
export function Decision(props: { readonly action: Action; readonly onApprove: () => void; readonly onReject: (reason: string) => void }) {
  const { action, onApprove, onReject } = props;
  const { question, whole, consequence } = decisionWords(action);
  const risk = ((action.args as { readonly security_risk?: Risk }).security_risk ?? -1) satisfies Risk;
  const isHigh = risk === 2;
  const isNew = useIsNew();
  const [isRejecting, setRejecting] = useState(false);
  const lines = whole.split('\n').length;
  useCommands('decision', [
    {
      id: 'approve',
      title: 'Approve',
      group: 'Here',
      keys: isHigh ? [] : ['mod+enter'],
      enabled: !isNew,
      run: () => composerIsEmpty() && onApprove(),
    },
    {
      id: 'reject',
      title: 'Reject',
      group: 'Here',
      keys: ['mod+backspace'],
      enabled: !isNew,
      run: () => composerIsEmpty() && onReject(''),
    },
  ]);
  return (
    <section className="decision" aria-label="Decision">
      <div role="alert">
        <h2>
          <span className="flex-1">{question}</span>
          <RiskChip risk={risk} />
        </h2>
      </div>
      <pre className="scroll" tabIndex={lines > LONG ? 0 : undefined}>
        {whole}
      </pre>
      {lines > LONG && <p className="text-small">{count(lines, 'line')}, read to the end to approve</p>}
      <p>{consequence}</p>
      {!isRejecting ? (
        <div className="decision-acts">
          <Button look={isHigh ? 'line' : 'main'} {...(!isHigh && { hint: 'mod+enter' })} onClick={onApprove}>
            Approve
          </Button>
          <Button look="line" hint="mod+backspace" onClick={() => setRejecting(true)}>
            Reject
          </Button>
        </div>
      ) : (
        <RejectForm onReject={onReject} onBack={() => setRejecting(false)} />
      )}
    </section>
  );
}

function RejectForm({ onReject, onBack }: { readonly onReject: (reason: string) => void; readonly onBack: () => void }) {
  const [reason, setReason] = useState('');
  return (
    <form
      className="decision-acts"
      onSubmit={(event) => {
        event.preventDefault();
        onReject(reason.trim());
      }}
    >
      <input
        className="field"
        aria-label="Reason"
        placeholder="Reason, if you like"
        value={reason}
        ref={focusOnMount}
        onChange={(event) => setReason(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          onBack();
        }}
      />
      <Button type="submit" look="line">
        Reject
      </Button>
      <Button onClick={onBack}>Back</Button>
    </form>
  );
}

function composerIsEmpty(): boolean {
  const field = document.getElementById('composer');
  return !(field instanceof HTMLTextAreaElement) || field.value.trim() === '';
}

const RISKS = {
  [-1]: { words: 'Risk unknown', tone: 'unknown' },
  0: { words: 'Low risk', tone: undefined },
  1: { words: 'Medium risk', tone: 'wait' },
  2: { words: 'High risk', tone: 'bad' },
} as const;

type Risk = keyof typeof RISKS;

function RiskChip({ risk }: { readonly risk: Risk }) {
  const { words, tone } = RISKS[risk];
  return (
    <span className="chip" data-tone={tone}>
      <Icon of={ShieldAlert} small />
      {words}
    </span>
  );
}

const DEAD_MS = 600;

/** Whether the component has only just appeared: what was pressed for something else must not act in it. */
export function useIsNew(): boolean {
  const [isNew, setNew] = useState(true);
  useEffect(() => {
    const timer = setTimeout(() => setNew(false), DEAD_MS);
    return () => clearTimeout(timer);
  }, []);
  return isNew;
}
