import { memo } from 'react';
import Markdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { Well } from './well.tsx';
import { cx } from '../ui/cx.ts';

/** Links open beside the app and tell the other side nothing; pictures of other hosts are not fetched, because that would. */
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
