/** The engine without HTTP and sockets, for programs that drive it in process: importing this loads neither. */
export type { Runtime } from '@tendon/core';
export { backupStore, type BackupOptions, type BackupSummary } from './backup/backup-store.ts';
export { composeEngine, type ComposeOptions } from './app/compose.ts';
export { readConfig, type Config, type ConfigResult } from './platform/config/config.ts';
export { readFiledConfig, type FiledConfig } from './platform/config/with-config-file.ts';
export type { Engine } from './app/engine.ts';
export { importStore, type ImportOptions, type ImportSummary } from './import/import-store.ts';
export { readEvents, type RecordedLog } from './import/read-events.ts';
export { restoreStore, type RestoreOptions, type RestoreSummary } from './backup/restore-store.ts';
export { saveTrajectory, type SaveTrajectoryOptions } from './events/save-trajectory.ts';
export { trajectoryText } from './events/trajectory-text.ts';
export { runSandboxCommand, type CommandOutput } from './sandboxes/sandbox-command.ts';
export { askForBody, findServer, type FoundServer } from './platform/server-address.ts';
export { openApiKeyClient, type ApiKeyClient } from './access/api-key-client.ts';
export { isSystemFolder } from './sandboxes/workspace-roots.ts';
export { isWithin, removeFolder } from '@tendon/runtime';
export { listTitled } from './sandboxes/list-titled.ts';
export { systemClock } from './platform/system-clock.ts';
