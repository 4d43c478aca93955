/** Sandboxes and the folders they work in, for what keeps some: the server, and `@tendon/sandbox-host`. */
export { fileFailureStatus, wordsOf } from './workspace-of.ts';
export { findExecutor, openDriver, type OpenedDriver } from './open-driver.ts';
export { unloggedActionId } from './sandbox-command.ts';
export { makeWorkspaceBase, ownFolder, workspaceFolder } from './workspace-folder.ts';
export { outsideRoots, workspaceRoots, type FolderRules, type WorkspaceRoots } from './workspace-roots.ts';
