import type { Microagents } from '@tendon/protocol';
import { workspaceMicroagents as read } from '@tendon/core/knowledge';
import type { Workspace } from '../sandboxes/workspace-of.ts';
import { userMicroagents } from './user-microagents.ts';
import { installedSkills } from './user-skills.ts';

/** As an agent of this workspace gets them: the workspace's, then the user's own of other names; skills among them. */
export async function workspaceMicroagents({ runtime }: Workspace, home: string): Promise<Microagents['microagents']> {
  const ignore = (): void => undefined;
  const [found, microagents, skills] = await Promise.all([
    read(runtime.files),
    userMicroagents(home, ignore),
    installedSkills(home, ignore),
  ]);
  const names = new Set(found.map(({ name }) => name));
  const all = [...found, ...[...microagents, ...skills].filter(({ name }) => !names.has(name))];
  return all.map(({ name, type, content, triggers, inputs, tools }) => ({ name, type, content, triggers, inputs, tools }));
}
