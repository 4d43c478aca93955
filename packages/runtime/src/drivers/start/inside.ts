import { basename, join } from 'node:path';
import type { ExecutorConfig } from '@tendon/protocol/executor-api';
import { proxySocketPathOf, socketPathOf, type SandboxSpec } from '../driver.ts';

/** Paths inside a sandbox. */
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

type ProtectedPaths = ExecutorConfig['folders']['protectedPaths'];

/** The executor's command line inside. It holds the incarnation, by which a start that was cut off is found. */
export function executorCommand(spec: SandboxSpec, entry: string, protectedPaths: ProtectedPaths): readonly string[] {
  return [INSIDE.node, join(INSIDE.executor, entry), '--config', JSON.stringify(insideConfig(spec, protectedPaths))];
}

/** For an executor that finds everything at the places above. */
export function insideConfig(spec: SandboxSpec, protectedPaths: ProtectedPaths): ExecutorConfig {
  return {
    incarnation: spec.incarnation,
    endpoint: { socketPath: join(INSIDE.link, basename(socketPathOf(spec.folders))) },
    folders: {
      stateDir: INSIDE.state,
      workspace: INSIDE.workspace,
      ...(spec.held && { workspaceIs: spec.held.identity }),
      ...(spec.isReadOnly && { isReadOnly: true }),
      ...(protectedPaths?.length && { protectedPaths }),
      workDir: INSIDE.workspace,
      volatileFolders: ['/tmp', '/var/tmp', '/dev/shm'],
    },
    network: {
      proxySocketPath: join(INSIDE.proxy, basename(proxySocketPathOf(spec.folders))),
      ...(spec.network.mode === 'none' && { isOffline: true }),
      gitHosts: spec.gitHosts,
    },
    shell: { program: '/bin/bash', terminals: INSIDE.terminals },
    limits: { noOutputTimeoutSeconds: spec.noOutputTimeoutSeconds, leaseSeconds: spec.leaseSeconds, output: spec.output },
    plugins: spec.plugins,
    checkpoints: spec.checkpoints,
  };
}
