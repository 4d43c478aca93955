import { memo } from 'react';
import Markdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { cx } from '../ui/cx.ts';
import { Well } from './output.tsx';

/** Links open in a new tab without a referrer; pictures of other hosts are not fetched, because that would. */
const COMPONENTS: Components = {
  a: ({ children, href }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
  img: ({ alt, src }) =>
    typeof src === 'string' && src.startsWith('data:image/') ? <img src={src} alt={alt ?? ''} /> : <>{alt || 'picture'}</>,
};
const PLUGINS = [remarkGfm];
/** Longer texts are shown as they are: laying out markdown of this size would hold the page. */
const MAX_MARKDOWN = 100_000;

/** Markdown, without HTML. */
export const Prose = memo(function Prose({ text, quiet }: { readonly text: string; readonly quiet?: boolean }) {
  if (text.length > MAX_MARKDOWN) return <Well text={text} />;
  return (
    <div className={cx('prose', quiet && 'prose-quiet')}>
      <Markdown remarkPlugins={PLUGINS} components={COMPONENTS}>
        {text}
      </Markdown>
    </div>
  );
});

/** Text that is still streaming: finished blocks stay as they are, so each new piece lays out only the last one. */
export function StreamingProse({ text }: { readonly text: string }) {
  const blocks = closedBlocks(text);
  return (
    <div className="streaming">
      {blocks.map((block, index) => (
        <Prose key={index} text={block} />
      ))}
    </div>
  );
}

/**
 * Split at empty lines, but never inside a fenced block.
 * @internal
 */
export function closedBlocks(text: string): readonly string[] {
  const blocks: string[] = [];
  let current = '';
  let isFenced = false;
  for (const line of text.split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) isFenced = !isFenced;
    if (line.trim() === '' && !isFenced) {
      if (current.trim()) blocks.push(current);
      current = '';
    } else current += `${line}\n`;
  }
  if (current.trim()) blocks.push(current);
  return blocks;
}
