import { memo, type ReactNode } from 'react';
import { ItemRow, type ItemRowProps } from './item-row.tsx';

/** Where a row stands in the list. */
export interface PlaceProps {
  readonly index: number;
  /** Pixels between it and the row before it. */
  readonly gap: number;
  readonly rowKey: string;
  readonly measure: (element: HTMLElement | null) => void;
  readonly onFocus: (rowKey: string) => void;
}

export function Placed({ index, gap, rowKey, measure, onFocus, children }: PlaceProps & { readonly children: ReactNode }) {
  return (
    <div ref={measure} className="flow-root" style={{ marginTop: gap }} data-row={index} onFocus={() => onFocus(rowKey)}>
      {children}
    </div>
  );
}

/** Drawn again only when it is another one, not with each event. */
export const PlacedItem = memo(function PlacedItem({ index, gap, rowKey, measure, onFocus, ...item }: PlaceProps & ItemRowProps) {
  return (
    <Placed {...{ index, gap, rowKey, measure, onFocus }}>
      <ItemRow {...item} />
    </Placed>
  );
});
