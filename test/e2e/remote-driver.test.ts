import { Secret } from '@tendon/protocol/masking';
import { ExecutorHostProcess } from '@tendon/testing/servers';
import { createRemoteDriver } from '@tendon/runtime';
import { findProcesses, leftOf } from '@tendon/runtime/testing';
import { describeDriver } from '@tendon/runtime/testing/driver-contract';

let host: ExecutorHostProcess | undefined;

/** The host is this machine, in a process of its own: what is left there can be counted, and killed. */
describeDriver('remote', {
  async make() {
    host ??= await ExecutorHostProcess.start();
    return createRemoteDriver({ url: host.url, key: new Secret(host.key) });
  },
  workspacePath: () => '/workspace',
  workspaceFolder: () => host!.workspace,
  async killExecutor({ url = '' }) {
    const incarnation = url.slice(url.lastIndexOf('/') + 1);
    // The first to die takes the others along.
    for (const pid of findProcesses(incarnation, 'cmdline')) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  },
  leftOf: async (incarnation) => leftOf(incarnation, host!.stateRoot),
  close: () => host!.remove(),
});
