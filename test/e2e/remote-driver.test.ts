import { Secret } from '@tendon/core';
import { ExecutorHostProcess } from '@tendon/testing/servers';
import { describeDriver } from '../../packages/runtime/src/drivers/contract.ts';
import { findProcesses } from '../../packages/runtime/src/processes/process-identity.ts';
import { createRemoteDriver } from '../../packages/runtime/src/drivers/remote/remote-driver.ts';
import { leftOf } from '../../packages/runtime/src/sandbox.test-support.ts';

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
