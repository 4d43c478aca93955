import { basename, join } from 'node:path';
import type { ExecutorConfig } from '@tendon/protocol/executor-api';
import { proxySocketPathOf, socketPathOf, type SandboxSpec } from '../driver.ts';

/** Where things are inside. */
export const INSIDE = {
  workspace: '/workspace',
  state: '/var/lib/tendon',
  link: '/run/tendon/link',
  proxy: '/run/tendon/proxy',
  executor: '/opt/tendon/executor',
  kernelPackages: '/opt/tendon/kernel',
  node: '/opt/tendon/bin/node',
  terminals: '/run/tendon/terminals',
} as const;

/** The executor's command line inside. It holds the incarnation, by which a start that was cut off is found. */
export function executorCommand(spec: SandboxSpec, entry: string, protectedPaths: ExecutorConfig['protectedPaths']): readonly string[] {
  return [INSIDE.node, join(INSIDE.executor, entry), '--config', JSON.stringify(insideConfig(spec, protectedPaths))];
}

/** For an executor that finds everything at the places above. */
export function insideConfig(spec: SandboxSpec, protectedPaths: ExecutorConfig['protectedPaths']): ExecutorConfig {
  return {
    incarnation: spec.incarnation,
    socketPath: join(INSIDE.link, basename(socketPathOf(spec.folders))),
    stateDir: INSIDE.state,
    volatileFolders: ['/tmp', '/var/tmp', '/dev/shm'],
    workspace: INSIDE.workspace,
    ...(spec.held && { workspaceIs: spec.held.identity }),
    ...(protectedPaths?.length && { protectedPaths }),
    workDir: INSIDE.workspace,
    proxySocketPath: join(INSIDE.proxy, basename(proxySocketPathOf(spec.folders))),
    ...(spec.network.mode === 'none' && { isOffline: true }),
    gitHosts: spec.gitHosts,
    shell: '/bin/bash',
    terminals: INSIDE.terminals,
    noOutputTimeoutSeconds: spec.noOutputTimeoutSeconds,
    leaseSeconds: spec.leaseSeconds,
    plugins: spec.plugins,
    output: spec.output,
  };
}
