import type { PidNamespace } from '../processes/pid-namespace.ts';
import { allProcesses } from '../processes/process-tree.ts';

export interface ServerInfo {
  readonly uptime: number;
  readonly resources: { readonly memory_rss_bytes: number; readonly processes: number };
  /** Whether what the agent starts is in a namespace of processes of its own; if not, why. */
  readonly nested: boolean;
  readonly nested_reason?: string;
  /** Whether what the agent starts can make no namespaces. */
  readonly namespaces_closed: boolean;
}

export function serverInfo(pidNamespace: Pick<PidNamespace, 'nested' | 'reason' | 'isClosed'>): ServerInfo {
  return {
    uptime: process.uptime(),
    resources: { memory_rss_bytes: process.memoryUsage.rss(), processes: allProcesses().length },
    nested: pidNamespace.nested,
    ...(pidNamespace.reason !== undefined && { nested_reason: pidNamespace.reason }),
    namespaces_closed: pidNamespace.isClosed,
  };
}
