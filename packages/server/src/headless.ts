import type { PostgresFacts } from '@tendon/core/postgres';
import type { Secret } from '@tendon/protocol/masking';
import type { AskedServer } from './cluster/ask-server.ts';

/** The engine without HTTP and sockets, for programs that drive it in process: importing this loads neither. */
export type { Runtime } from '@tendon/core';
export { openAuditReader, type AuditReader } from './audit/audit-reader.ts';
export { verifyAudit, type AuditVerdict } from './audit/verify-audit.ts';
export { backupStore, type BackupOptions, type BackupSummary } from './backup/backup-store.ts';
export { composeEngine, type ComposeOptions } from './app/compose.ts';
export { hasRemoteSandboxes, readConfig, type Config, type ConfigResult } from './platform/config/config.ts';
export { readFiledConfig, type FiledConfig } from './platform/config/with-config-file.ts';
export type { Engine } from './app/engine.ts';
export { enabledPlugins, enablePlugin, installedPlugins, type InstalledPlugin } from './extensions/installed-plugins.ts';
export { installedHooks, type InstalledHooks } from './extensions/installed-hooks.ts';
export { loadToolFile, ToolFiles, toolFolders, type InstalledTool } from './extensions/installed-tools.ts';
export { newTool } from './extensions/new-tool.ts';
export { callTool } from './extensions/tool-program.ts';
export { Notes } from './knowledge/notes.ts';
export { importStore, type ImportOptions, type ImportSummary } from './import/import-store.ts';
export { readEvents, type RecordedLog } from './import/read-events.ts';
export { migrateStore, type MigrateOptions } from './backup/migrate-store.ts';
export { restoreStore, type RestoreOptions, type RestoreSummary } from './backup/restore-store.ts';
export { saveTrajectory, type SaveTrajectoryOptions } from './events/save-trajectory.ts';
export { atifText } from './events/atif-text.ts';
export { trajectoryText } from './events/trajectory-text.ts';
export { runSandboxCommand, type CommandOutput } from './sandboxes/sandbox-command.ts';
export { askForBody, findServer, type FoundServer } from './platform/server-address.ts';
export { openApiKeyClient, type ApiKeyClient } from './access/api-key-client.ts';
export { grantFolder } from './sandboxes/granted-folders.ts';
export { isSystemFolder } from './sandboxes/workspace-roots.ts';
export { isWithin, removeFolder } from '@tendon/runtime';
export { listTitled } from './sandboxes/list-titled.ts';
export { openHosts } from './sandboxes/open-driver.ts';
export type { SandboxHostInfo } from '@tendon/runtime';
export { deliveryInfo, triggerInfo } from './triggers/trigger-info.ts';
export { systemClock } from './platform/system-clock.ts';
export type { AskedServer } from './cluster/ask-server.ts';
export { VERSION } from './platform/version.ts';
export type { LeasedServer, PostgresFacts } from '@tendon/core/postgres';

/** Loads the client of Postgres when it is called. */
export async function inspectPostgres(url: string, now: () => Date): Promise<PostgresFacts> {
  return (await import('@tendon/core/postgres')).inspectPostgres(url, now);
}

/** As another server of its cluster asks it. Never rejects. `now` in milliseconds. */
export async function askServerOf(jwtSecret: Secret, url: string, now: number): Promise<AskedServer> {
  return (await import('./cluster/ask-server.ts')).askServerOf(jwtSecret, url, now);
}
