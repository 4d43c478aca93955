import { createContext, Fragment, memo, useContext, useMemo, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { useColouredLines } from './use-highlight.ts';
import { t } from '../lib/language/text.ts';

/** Longer code, and code that is still being written, has one colour: each word that has its own is an element. */
const MAX_COLOURED = 20_000;
/** What fences call a language, where files end otherwise. */
const ENDINGS = new Map<string, string>([
  ['python', 'py'],
  ['ruby', 'rb'],
  ['perl', 'pl'],
  ...['shell', 'console', 'zsh'].map((name) => [name, 'sh'] as const),
  ...['text', 'plaintext', 'diff', 'markdown'].map((name) => [name, 'txt'] as const),
]);

/** Whether more of the text around it is to come. */
export const IsPartial = createContext(false);

interface CodeBlockProps {
  readonly text: string;
  /** As the fence names it; empty: unknown. */
  readonly language: string;
}

/** Code in what an agent says, with its language and a button that copies it. */
export const CodeBlock = memo(function CodeBlock({ text, language }: CodeBlockProps) {
  const isPartial = useContext(IsPartial);
  const [isCopied, setCopied] = useState(false);
  const isColoured = language !== '' && !isPartial && text.length <= MAX_COLOURED;
  return (
    <figure className="code-block">
      <figcaption>
        <span className="flex-1">{language}</span>
        <Button
          small
          onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
          onBlur={() => setCopied(false)}
          onPointerLeave={() => setCopied(false)}
        >
          {isCopied ? t('Copied') : t('Copy')}
        </Button>
      </figcaption>
      <pre>
        <code>{isColoured ? <ColouredCode text={text} path={`x.${ENDINGS.get(language) ?? language}`} /> : `${text}\n`}</code>
      </pre>
    </figure>
  );
});

/** Inside a `pre`. */
export function ColouredCode({ text, path }: { readonly text: string; readonly path: string }) {
  const lines = useMemo(() => text.split('\n'), [text]);
  return useColouredLines(lines, path).map((pieces, index) => (
    <Fragment key={index}>
      {pieces.map((piece, at) =>
        piece.look ? (
          <span key={at} className={piece.look}>
            {piece.text}
          </span>
        ) : (
          piece.text
        ),
      )}
      {'\n'}
    </Fragment>
  ));
}
