import type { ConversationSnapshot } from '@tendon/client';
import { money, short } from '../../copy/counts.ts';
import { useModelInUse } from '../../lib/server.ts';
import { cx } from '../../ui/cx.ts';
import type { Glyph } from '../../ui/icon.tsx';
import { StatusBar } from '../status-bar.tsx';

const CONNECTION = {
  connecting: ['limited', 'Connecting'],
  connected: ['connected', 'Connected'],
  reconnecting: ['limited', 'Reconnecting'],
  offline: ['held', 'Offline'],
  refused: ['failed', 'Not signed in'],
  closed: ['held', 'Closed'],
} as const satisfies Record<string, readonly [Glyph, string]>;

export function ConversationStatus({ snapshot }: { readonly snapshot: ConversationSnapshot }) {
  const model = useModelInUse();
  const [glyph, words] = CONNECTION[snapshot.connection.state];
  const { metrics } = snapshot.state;
  return (
    <StatusBar glyph={glyph} connection={words}>
      {metrics && <ContextMeter usage={metrics.accumulated_token_usage} />}
      {metrics ? (
        <Cost spent={metrics.accumulated_cost} budget={metrics.max_budget_per_task} />
      ) : (
        model?.isDemo && <span>Demo model, free</span>
      )}
    </StatusBar>
  );
}

interface Usage {
  readonly context_window: number;
  readonly per_turn_token: number;
  readonly cache_read_tokens: number;
}

/** How full the model's window is: the cached part grey, the new part in the accent. */
function ContextMeter({ usage }: { readonly usage: Usage }) {
  const { context_window: size, per_turn_token: used, cache_read_tokens: read } = usage;
  if (size <= 0 || used <= 0) return null;
  const cached = Math.min(read, used);
  const percent = (tokens: number) => `${Math.min(100, (tokens / size) * 100)}%`;
  const words = `${short(used)} of ${short(size)} tokens${cached > 0 ? `, ${short(cached)} cached` : ''}`;
  const isTight = used / size >= 0.8;
  return (
    <span className={cx(isTight && 'tone-wait')}>
      <span className="meter" role="img" aria-label={`Context ${percent(used)} full`} data-tone={isTight ? 'wait' : undefined}>
        <i style={{ width: percent(cached) }} />
        <i style={{ width: percent(used - cached) }} />
      </span>
      {isTight ? 'Shortens the history soon' : words}
    </span>
  );
}

function Cost({ spent, budget }: { readonly spent: number; readonly budget: number | null }) {
  const model = useModelInUse();
  if (spent === 0 && model?.isDemo) return <span>Demo model, free</span>;
  return (
    <span className={cx(budget !== null && spent >= budget * 0.8 && 'tone-wait')}>
      {budget === null ? money(spent) : `${money(spent)} of ${money(budget)}`}
    </span>
  );
}
