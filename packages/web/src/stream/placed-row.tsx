import { memo, type ReactNode } from 'react';
import { ItemRow, type ItemRowProps } from './item-row.tsx';

/** Where a row stands in the list: the same values until it moves. */
export interface PlaceProps {
  readonly index: number;
  readonly top: number;
  readonly rowKey: string;
  readonly measure: (element: HTMLElement | null) => void;
  readonly onFocus: (rowKey: string) => void;
}

export function Placed({ index, top, rowKey, measure, onFocus, children }: PlaceProps & { readonly children: ReactNode }) {
  return (
    <div ref={measure} className="absolute inset-x-0" style={{ top }} data-row={index} onFocus={() => onFocus(rowKey)}>
      {children}
    </div>
  );
}

/** Drawn again only when it is another one or stands in another place, not with each event. */
export const PlacedItem = memo(function PlacedItem({ index, top, rowKey, measure, onFocus, ...item }: PlaceProps & ItemRowProps) {
  return (
    <Placed {...{ index, top, rowKey, measure, onFocus }}>
      <ItemRow {...item} />
    </Placed>
  );
});
