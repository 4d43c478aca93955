import { AtSign, Paperclip, SquareSlash } from 'lucide-react';
import { useLayoutEffect, useRef, useState, type ClipboardEvent, type KeyboardEvent, type ReactNode, type RefObject } from 'react';
import { IconButton } from '../ui/button.tsx';
import { cx } from '../ui/cx.ts';
import { Icon } from '../ui/icon.tsx';
import { type Attachment, AttachmentChips, readAttachments } from './attachments.tsx';
import { type Suggestion, Suggestions, wordAt } from './suggestions.tsx';
import { t } from '../lib/language/text.ts';

interface TextField {
  readonly label: string;
  readonly placeholder: string;
  /** From when it appears: the page exists to be typed into. */
  readonly hasFocus?: boolean;
  /** ⏎, outside of a composition of letters. */
  readonly onSend: () => void;
  /** ↑ in an empty field. */
  readonly onUp?: () => void;
}

/** What a person has written and attached so far. */
interface Draft {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly attachments: readonly Attachment[];
  readonly onAttachments: (attachments: readonly Attachment[]) => void;
  /** Images only, where there is no workspace to put files into. */
  readonly accept?: string;
}

export interface ComposerProps {
  readonly field: TextField;
  readonly draft: Draft;
  /** What `/` and `@` offer. */
  readonly slash: readonly Suggestion[];
  readonly at?: readonly Suggestion[];
  /** At the right end of the bar: model, send. */
  readonly end: ReactNode;
  readonly above?: ReactNode;
  readonly below?: ReactNode;
  readonly className?: string;
}

/** The field where a person speaks: grows from 1 to 12 rows, takes images by paste and drop, offers words for `/` and `@`. */
export function Composer(props: ComposerProps) {
  const { text, onText, attachments, onAttachments, accept } = props.draft;
  const field = useRef<HTMLTextAreaElement>(null);
  const [isDropping, setDropping] = useState(false);
  const [caret, setCaret] = useState(0);
  const [problem, setProblem] = useState('');

  const attach = async (files: readonly File[]) => {
    const read = await readAttachments(files);
    onAttachments([...attachments, ...read.attachments].slice(0, 20));
    setProblem(read.problem);
  };
  const insert = (sign: string) => {
    const at = field.current?.selectionStart ?? text.length;
    onText(text.slice(0, at) + sign + text.slice(at));
    setCaret(at + sign.length);
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(at + sign.length, at + sign.length);
    });
  };
  return (
    <div
      className={cx('composer', props.className)}
      data-dropping={isDropping}
      onDragOver={(event) => {
        event.preventDefault();
        setDropping(true);
      }}
      onDragLeave={() => setDropping(false)}
      onDrop={(event) => {
        event.preventDefault();
        setDropping(false);
        void attach([...event.dataTransfer.files]);
      }}
    >
      {props.above}
      <AttachmentChips attachments={attachments} onRemove={(id) => onAttachments(attachments.filter((one) => one.id !== id))} />
      {problem && <p className="px-3.5 pt-2 text-small text-bad">{problem}</p>}
      <Field composer={props} element={field} caret={caret} onCaret={setCaret} onFiles={(files) => void attach(files)} />
      <div className="composer-bar">
        <AttachButton accept={accept} onFiles={(files) => void attach(files)} />
        {props.at && (
          <IconButton label={t('Mention a file')} onClick={() => insert('@')}>
            <Icon of={AtSign} />
          </IconButton>
        )}
        {props.slash.length > 0 && (
          <IconButton label={t('Slash commands')} onClick={() => insert('/')}>
            <Icon of={SquareSlash} />
          </IconButton>
        )}
        <span className="flex-1" />
        {props.end}
      </div>
      {props.below}
    </div>
  );
}

interface FieldProps {
  readonly composer: ComposerProps;
  readonly element: RefObject<HTMLTextAreaElement | null>;
  readonly caret: number;
  readonly onCaret: (caret: number) => void;
  readonly onFiles: (files: readonly File[]) => void;
}

function Field({ composer, element, caret, onCaret, onFiles }: FieldProps) {
  const { field, draft, slash, at = [] } = composer;
  const { text, onText } = draft;
  const { label, placeholder, hasFocus, onSend, onUp } = field;
  useLayoutEffect(() => {
    if (hasFocus) element.current?.focus();
  }, [hasFocus, element]);
  const word = wordAt(text, caret);
  const pick = (suggestion: Suggestion) => {
    if (!word) return;
    onText(text.slice(0, word.start) + (suggestion.insert ?? '') + text.slice(caret));
    suggestion.run?.();
    element.current?.focus();
  };
  const onPaste = (event: ClipboardEvent) => {
    const files = [...event.clipboardData.files];
    if (files.length === 0) return;
    event.preventDefault();
    onFiles(files);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowUp' && text === '') onUp?.();
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing || isTouch()) return;
    if (event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    onSend();
  };
  return (
    <Suggestions word={word} offered={word?.sign === '/' ? slash : word?.sign === '@' ? at : []} onPick={pick}>
      {(suggestions) => (
        <div className="grow" data-text={text}>
          <textarea
            id="composer"
            ref={element}
            rows={1}
            aria-label={label}
            placeholder={placeholder}
            value={text}
            {...suggestions.fieldProps}
            onChange={(event) => {
              onText(event.target.value);
              onCaret(event.target.selectionStart);
            }}
            onSelect={(event) => onCaret(event.currentTarget.selectionStart)}
            onPaste={onPaste}
            onKeyDown={(event) => !suggestions.onKeyDown(event) && onKeyDown(event)}
          />
        </div>
      )}
    </Suggestions>
  );
}

function AttachButton({ accept, onFiles }: { readonly accept: string | undefined; readonly onFiles: (files: readonly File[]) => void }) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        accept={accept}
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = '';
        }}
      />
      <IconButton label={t('Attach files')} onClick={() => picker.current?.click()}>
        <Icon of={Paperclip} />
      </IconButton>
    </>
  );
}

function isTouch(): boolean {
  return matchMedia('(pointer: coarse)').matches;
}
