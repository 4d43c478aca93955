import { workspaceMicroagents as read, type Microagent } from '@tendon/core/knowledge';
import type { Workspace } from '../sandboxes/workspace-of.ts';

/** As the agent of this workspace gets them. */
export function workspaceMicroagents({ runtime }: Workspace): Promise<Microagent[]> {
  return read(runtime.files);
}
