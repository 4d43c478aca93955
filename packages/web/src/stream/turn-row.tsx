import { UserRound } from 'lucide-react';
import { Icon } from '../ui/icon.tsx';
import { cut } from '../copy/cut.ts';
import { clock } from '../copy/times.ts';
import type { RowPlace } from './item-row.tsx';
import { isInlinePicture } from './cards/picture.tsx';
import type { TurnItem } from './stream-item.ts';
import type { Folds } from './use-folds.ts';

/** A message of the person: the header of what follows. One line, and all of it when it is opened. */
export function TurnRow({ item, position, size, folds }: RowPlace & { readonly item: TurnItem; readonly folds: Folds }) {
  const [first = '', ...rest] = item.text.trim().split('\n');
  const line = cut(first, 300);
  const hasMore = rest.length > 0 || line.length > 80;
  const pictures = item.images.filter(isInlinePicture);
  const isOpen = folds.isOpen(item.key, rest.length > 0 && item.text.length < 2_000);
  return (
    <article
      className="turn"
      id={`event-${item.id}`}
      tabIndex={-1}
      aria-label={`Your message, ${clock(item.at)}: ${line}`}
      aria-posinset={position}
      aria-setsize={size}
    >
      <TurnLine text={line} at={item.at} {...(hasMore && { onClick: () => folds.set(item.key, !isOpen), isOpen })} />
      {hasMore && isOpen && <p className="turn-whole">{cut(item.text, 100_000)}</p>}
      {(pictures.length > 0 || item.files.length > 0) && (
        <div className="turn-whole flex flex-wrap gap-2">
          {pictures.map((url, index) => (
            <img key={index} className="shot" src={url} alt={`Attached ${index + 1}`} />
          ))}
          {item.files.map((file) => (
            <span key={file} className="chip">
              {file}
            </span>
          ))}
        </div>
      )}
    </article>
  );
}

export function TurnLine(props: { readonly text: string; readonly at: string; readonly onClick?: () => void; readonly isOpen?: boolean }) {
  const { text, at, onClick, isOpen } = props;
  return (
    <>
      <span className="gutter self-center">
        <Icon of={UserRound} />
      </span>
      {onClick ? (
        <button type="button" className="turn-text truncate" aria-expanded={isOpen} onClick={onClick}>
          {text}
        </button>
      ) : (
        <p className="turn-text truncate">{text}</p>
      )}
      <time className="text-small text-ink-3" dateTime={at} title={at}>
        {clock(at)}
      </time>
    </>
  );
}
