import type { ConversationSnapshot } from '@tendon/client';
import { isAction } from '@tendon/protocol';
import { useEffect, useMemo, useRef, useState } from 'react';
import { isExecuted } from '../../workbench/is-executed.ts';
import type { Shown, TabName } from '../../conversation/open-conversation.ts';

export interface Following {
  readonly isOn: boolean;
  readonly set: (isOn: boolean) => void;
}

/** Where what an action does is seen. */
const PLACES: Readonly<Record<string, TabName>> = {
  ...{ run: 'terminal', run_ipython: 'notebook', browse: 'browser', browse_interactive: 'browser' },
  ...{ write: 'changes', edit: 'changes' },
};

/** While it is on, the workbench shows the panel that the agent works in, and what it has changed when its turn ends. */
export function useFollow(
  { events, state, loaded }: Pick<ConversationSnapshot, 'events' | 'state' | 'loaded'>,
  show: (target: Shown) => void,
): Following {
  const [isOn, set] = useState(true);
  const newest = events.findLast(
    (event) => isAction(event) && event.source === 'agent' && PLACES[event.action] !== undefined && isExecuted(event),
  );
  // What was done before anybody looked is history.
  const seen = useRef<number>(undefined);
  const { agentState } = state;
  useEffect(() => {
    if (!loaded) return;
    seen.current ??= newest?.id ?? -1;
    if (!newest || newest.id <= seen.current || !isAction(newest)) return;
    const since = seen.current;
    const isOver = agentState === 'finished' || agentState === 'awaiting_user_input';
    if (isOver) seen.current = newest.id;
    const hasChanged = events.some((event) => event.id > since && isAction(event) && PLACES[event.action] === 'changes');
    if (isOn) show({ tab: isOver && hasChanged ? 'changes' : PLACES[newest.action]! });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only the agent's work moves it
  }, [newest?.id, agentState, isOn, loaded]);
  return useMemo(() => ({ isOn, set }), [isOn]);
}
