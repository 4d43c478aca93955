import { AtSign, Paperclip, SquareSlash } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { IconButton } from '../ui/button.tsx';
import { cx } from '../ui/cx.ts';
import { Icon } from '../ui/icon.tsx';
import { type Attachment, AttachmentChips, readAttachments } from './attachments.tsx';
import { type Suggestion, Suggestions, wordAt } from './suggestions.tsx';

export interface ComposerProps {
  readonly label: string;
  readonly placeholder: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly attachments: readonly Attachment[];
  readonly onAttachments: (attachments: readonly Attachment[]) => void;
  /** ⏎, outside of a composition of letters. */
  readonly onSend: () => void;
  /** What `/` and `@` offer. */
  readonly slash: readonly Suggestion[];
  readonly at?: readonly Suggestion[];
  /** Images only, where there is no workspace to put files into. */
  readonly accept?: string;
  /** At the right end of the bar: model, send. */
  readonly end: ReactNode;
  readonly above?: ReactNode;
  readonly below?: ReactNode;
  readonly className?: string;
  readonly autoFocus?: boolean;
  /** ↑ in an empty field. */
  readonly onUp?: () => void;
}

/** The field where a person speaks: grows from 1 to 12 rows, takes images by paste and drop, offers words for `/` and `@`. */
export function Composer(props: ComposerProps) {
  const { text, onText, attachments, onAttachments, onSend } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const [isDropping, setDropping] = useState(false);
  const [caret, setCaret] = useState(0);
  const [problem, setProblem] = useState('');

  const attach = async (files: readonly File[]) => {
    const read = await readAttachments(files);
    onAttachments([...attachments, ...read.attachments].slice(0, 20));
    setProblem(read.problem);
  };
  const put = (insert: string) => {
    const at = field.current?.selectionStart ?? text.length;
    onText(text.slice(0, at) + insert + text.slice(at));
    setCaret(at + insert.length);
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(at + insert.length, at + insert.length);
    });
  };
  const word = wordAt(text, caret);
  const offered = word?.sign === '/' ? props.slash : word?.sign === '@' ? (props.at ?? []) : [];

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
      <Suggestions
        field={field}
        word={word}
        offered={offered}
        onPick={(suggestion) => {
          if (!word) return;
          onText(text.slice(0, word.start) + (suggestion.insert ?? '') + text.slice(caret));
          suggestion.run?.();
          field.current?.focus();
        }}
      >
        {(suggestions) => (
          <div className="grow" data-text={text}>
            <textarea
              id="composer"
              ref={field}
              rows={1}
              aria-label={props.label}
              placeholder={props.placeholder}
              value={text}
              // oxlint-disable-next-line jsx-a11y/no-autofocus -- the page exists to be typed into
              autoFocus={props.autoFocus}
              {...suggestions.fieldProps}
              onChange={(event) => {
                onText(event.target.value);
                setCaret(event.target.selectionStart);
              }}
              onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
              onPaste={(event) => {
                const files = [...event.clipboardData.files];
                if (files.length > 0) {
                  event.preventDefault();
                  void attach(files);
                }
              }}
              onKeyDown={(event) => {
                if (suggestions.onKeyDown(event)) return;
                if (event.key === 'ArrowUp' && text === '') props.onUp?.();
                if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing || isTouch()) return;
                if (event.metaKey || event.ctrlKey) return;
                event.preventDefault();
                onSend();
              }}
            />
          </div>
        )}
      </Suggestions>
      <div className="composer-bar">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          accept={props.accept}
          onChange={(event) => {
            void attach([...(event.target.files ?? [])]);
            event.target.value = '';
          }}
        />
        <IconButton label="Attach files" onClick={() => picker.current?.click()}>
          <Icon of={Paperclip} />
        </IconButton>
        {props.at && (
          <IconButton label="Mention a file" onClick={() => put('@')}>
            <Icon of={AtSign} />
          </IconButton>
        )}
        <IconButton label="Slash commands" onClick={() => put('/')}>
          <Icon of={SquareSlash} />
        </IconButton>
        <span className="flex-1" />
        {props.end}
      </div>
      {props.below}
    </div>
  );
}

function isTouch(): boolean {
  return matchMedia('(pointer: coarse)').matches;
}
