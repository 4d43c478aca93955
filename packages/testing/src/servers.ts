export { builtFaults, builtTendon } from './built-tendon.ts';
export { ExecutorHostProcess, type HostOptions } from './executor-host-process.ts';
export { startGitHost, type GitHost } from './git-host.ts';
export { answerJson, deadAddress, oddServer, type Answering } from './odd-server.ts';
export { TendonProcess, type HostAccount } from './tendon-process.ts';
export { Watcher, type WireEvent } from './watcher.ts';
