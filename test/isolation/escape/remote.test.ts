import { Secret } from '@tendon/protocol/masking';
import { ExecutorHostProcess } from '@tendon/testing/servers';
import { createRemoteDriver } from '@tendon/runtime';
import { runs, someOf } from '@tendon/testing';
import { describeEscapes } from './contract.ts';
import { ESCAPE_LIMITS } from './open-hostile.ts';

const { memoryBytes, processes, cpus, fileBytes, openFiles, diskBytes } = ESCAPE_LIMITS;
const environment = {
  SANDBOX_MEMORY: String(memoryBytes),
  SANDBOX_PROCESSES: String(processes),
  SANDBOX_CPUS: String(cpus),
  SANDBOX_FILE_SIZE: String(fileBytes),
  SANDBOX_OPEN_FILES: String(openFiles),
  SANDBOX_DISK: String(diskBytes),
  SANDBOX_NETWORK: 'full',
};
const host = await ExecutorHostProcess.start({ environment });

describeEscapes('remote', {
  make: () => createRemoteDriver({ url: host.url, key: new Secret(host.key) }),
  workspaceOf: (folder) => `/workspace/${folder}`,
  folders: () => ({ root: host.folder, stateRoot: host.stateRoot, workspaces: host.workspace }),
  close: () => host.remove(),
  starts: runs(8, 4),
  // Its sandboxes are those of `local`, which are tried with every threat: one of each kind.
  sample: (threats) => someOf(threats, 1),
});
