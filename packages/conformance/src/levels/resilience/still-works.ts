import type { Target } from '../../target/target.ts';
import { joinNew, turn } from '../v0-socketio/join.ts';

/** The server still serves: a conversation is made, a message answered. */
export async function stillWorks(target: Target): Promise<void> {
  await turn(target, await joinNew(target), [{ text: 'well' }]);
}
