import type { Action } from '@tendon/protocol';
import { ShieldAlert } from 'lucide-react';
import { useEffect, useState } from 'react';
import { AlwaysAllow } from './always-allow.tsx';
import { useCommands } from '../lib/commands.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { focusOnMount } from '../ui/popup.tsx';
import { commandEffects, INSIDE } from '../copy/command-effects.ts';
import { reasonWords } from '../copy/reason-words.ts';
import { fileName, hostName } from '../copy/shorten.ts';
import { t, textKey } from '../lib/language/text.ts';

const LONG = 12;

/**
 * The action is shown whole. Keys are dead while it is new, so that what was typed for something else approves nothing;
 * at high risk approving has no key at all. It never takes the focus.
 */
export function Decision(props: {
  readonly action: Action;
  readonly onApprove: (edited?: string) => void;
  readonly onReject: (reason: string) => void;
}) {
  const { action, onApprove, onReject } = props;
  const { question, whole, consequence } = decisionWords(action);
  const risk = actionRisk(action);
  const isHigh = risk === 2;
  const isNew = useIsNew();
  const isText = action.action === 'run' || action.action === 'run_ipython';
  const [isRejecting, setRejecting] = useState(false);
  const [edited, setEdited] = useState<string>();
  useDecisionKeys({ isHigh, isNew, onApprove: () => onApprove(edited), onReject });
  return (
    <section className="decision" aria-label={t('Decision')} tabIndex={-1}>
      <div role="alert">
        <h2>
          <span className="flex-1">{question}</span>
          <RiskChip risk={risk} />
        </h2>
        {edited === undefined && <Whole text={whole} />}
      </div>
      {edited !== undefined && <EditField text={edited} lines={lineCount(whole)} onEdit={setEdited} />}
      <p>{consequence}</p>
      {action.confirmation_reason !== undefined && (
        <p className="text-small">{t('Asks because {{reason}}.', { reason: reasonWords(action.confirmation_reason) })}</p>
      )}
      {!isRejecting ? (
        <div className="decision-acts">
          <Button look={isHigh ? 'line' : 'main'} {...(!isHigh && { hint: 'mod+enter' })} onClick={() => onApprove(edited)}>
            {t('Approve')}
          </Button>
          <Button look="line" hint="mod+backspace" onClick={() => setRejecting(true)}>
            {t('Reject')}
          </Button>
          {isText && (
            <Button look="line" onClick={() => setEdited(edited === undefined ? whole : undefined)}>
              {edited === undefined ? t('Edit') : t('Undo the edit')}
            </Button>
          )}
          {edited === undefined && <AlwaysAllow actionId={action.id} isNew={isNew} onApprove={() => onApprove()} />}
        </div>
      ) : (
        <RejectForm onReject={onReject} onBack={() => setRejecting(false)} />
      )}
    </section>
  );
}

interface DecisionKeys {
  readonly isHigh: boolean;
  readonly isNew: boolean;
  readonly onApprove: () => void;
  readonly onReject: (reason: string) => void;
}

function useDecisionKeys({ isHigh, isNew, onApprove, onReject }: DecisionKeys): void {
  useCommands('decision', [
    {
      id: 'approve',
      title: t('Approve'),
      group: 'Here',
      keys: isHigh ? [] : ['mod+enter'],
      enabled: !isNew,
      run: () => composerIsEmpty() && onApprove(),
    },
    {
      id: 'reject',
      title: t('Reject'),
      group: 'Here',
      keys: ['mod+backspace'],
      enabled: !isNew,
      run: () => composerIsEmpty() && onReject(''),
    },
  ]);
}

const lineCount = (text: string): number => text.split('\n').length;

/** What the user puts in the place of the action. */
function EditField({ text, lines, onEdit }: { readonly text: string; readonly lines: number; readonly onEdit: (text: string) => void }) {
  return (
    <textarea
      className="field my-2 w-full font-mono"
      aria-label={t('What runs instead')}
      rows={Math.min(lines, LONG)}
      value={text}
      ref={focusOnMount}
      onChange={(event) => onEdit(event.target.value)}
    />
  );
}

/** The action itself, part of the alert: who hears the question hears what it is about. */
function Whole({ text }: { readonly text: string }) {
  const lines = lineCount(text);
  return (
    <>
      <pre className="scroll" tabIndex={lines > LONG ? 0 : undefined}>
        {text}
      </pre>
      {lines > LONG && <p className="text-small">{t('{{count}} lines, scroll to read all', { count: lines })}</p>}
    </>
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
        aria-label={t('Reason')}
        placeholder={t('Why? (optional)')}
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
        {t('Reject')}
      </Button>
      <Button onClick={onBack}>{t('Back')}</Button>
    </form>
  );
}

function composerIsEmpty(): boolean {
  const field = document.getElementById('composer');
  return !(field instanceof HTMLTextAreaElement) || field.value.trim() === '';
}

const RISKS = {
  [-1]: { words: textKey('Risk unknown'), tone: 'unknown' },
  0: { words: textKey('Low risk'), tone: undefined },
  1: { words: textKey('Medium risk'), tone: 'wait' },
  2: { words: textKey('High risk'), tone: 'bad' },
} as const;

type Risk = keyof typeof RISKS;

export function actionRisk(action: Action): Risk {
  return (action.args as { readonly security_risk?: Risk }).security_risk ?? -1;
}

export function RiskChip({ risk }: { readonly risk: Risk }) {
  const { words, tone } = RISKS[risk];
  return (
    <span className="chip" data-tone={tone}>
      <Icon of={ShieldAlert} small />
      {t(words)}
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

interface DecisionWords {
  /** Names the effect. */
  readonly question: string;
  /** The action whole. */
  readonly whole: string;
  /** A sentence for each. */
  readonly consequence: string;
}

export function decisionWords(action: Action): DecisionWords {
  switch (action.action) {
    case 'run':
      return {
        ...commandEffects(action.args.command),
        whole: action.args.command,
      };
    case 'run_ipython':
      return { question: t('Run this Python code?'), whole: action.args.code, consequence: t(INSIDE) };
    case 'write':
      return {
        question: t('Write {{path}}?', { path: fileName(action.args.path) }),
        whole: `${action.args.path}\n\n${action.args.content}`,
        consequence: t('It replaces what the file holds now.'),
      };
    case 'edit':
      return {
        question: t('Change {{path}}?', { path: fileName(action.args.path) }),
        whole: editText(action),
        consequence: t('It changes a file of the workspace.'),
      };
    case 'browse':
      return {
        question: t('Open {{url}}?', { url: hostName(action.args.url) }),
        whole: action.args.url,
        consequence: t('The site sees the visit.'),
      };
    case 'browse_interactive':
      return {
        question: t('Do this in the browser?'),
        whole: action.args.browser_actions,
        consequence: t('It acts on a web page as you would.'),
      };
    case 'call_tool_mcp':
      return {
        question: t('Call {{name}}?', { name: action.args.name }),
        whole: JSON.stringify(action.args.arguments, null, 2),
        consequence: t('The MCP server decides what happens next.'),
      };
    default:
      return {
        question: t('Allow {{action}}?', { action: action.action }),
        whole: JSON.stringify(action.args, null, 2),
        consequence: t(INSIDE),
      };
  }
}

function editText({ args }: Extract<Action, { action: 'edit' }>): string {
  const parts = [
    args.path,
    args.command,
    args.old_str && `− ${args.old_str}`,
    args.new_str && `+ ${args.new_str}`,
    args.file_text,
    args.content,
  ];
  return parts.filter(Boolean).join('\n\n');
}
