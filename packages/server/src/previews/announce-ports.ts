import { setTimeout as delay } from 'node:timers/promises';
import type { SandboxPorts } from '@tendon/runtime';
import type { OpenConversation } from '../conversations/open-conversations.ts';

const LOOK_AGAIN_MS = 1000;

/**
 * Notifies those who look at a conversation of what the agent's programs serve, whenever that has changed, until the returned function is called.
 * A sandbox is never started for it: it is looked for when the engine says something of it.
 */
export function announcePorts(open: OpenConversation, portsNow: () => SandboxPorts | undefined): () => void {
  const left = new AbortController();
  let isFollowing = false;
  let announced = '[]';

  function announce(ports: Awaited<ReturnType<SandboxPorts['list']>>): void {
    const text = JSON.stringify(ports);
    if (text !== announced && !left.signal.aborted) open.announce({ volatile: 'ports', ports });
    announced = text;
  }

  async function follow(): Promise<void> {
    const ports = isFollowing || left.signal.aborted ? undefined : portsNow();
    if (!ports) return;
    isFollowing = true;
    // A connection to another host breaks while the sandbox there lives.
    for (let at: SandboxPorts | undefined = ports; at; at = portsNow() && (await pause(left.signal)) ? portsNow() : undefined) {
      for await (const list of at.follow({ signal: left.signal })) announce(list);
    }
    isFollowing = false;
    announce([]); // the sandbox has ended, and what it served with it
  }

  // The sandbox that a frame speaks of is in its place a moment later.
  const unwatch = open.conversation.watch((frame) => {
    if (frame.volatile !== 'delta' && !isFollowing) setImmediate(() => void follow());
  });
  void follow();
  return () => {
    unwatch();
    left.abort();
  };
}

/** False when who looks has left. */
function pause(left: AbortSignal): Promise<boolean> {
  return delay(LOOK_AGAIN_MS, true, { signal: left, ref: false }).catch(() => false);
}
