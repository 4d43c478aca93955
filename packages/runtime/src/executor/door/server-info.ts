import { allProcesses } from '../processes/process-tree.ts';

export interface ServerInfo {
  readonly uptime: number;
  readonly resources: { readonly memory_rss_bytes: number; readonly processes: number };
  /** Whether what the agent starts is in a namespace of processes of its own; if not, why. */
  readonly nested: boolean;
  readonly nested_reason?: string;
}

export function serverInfo(nest: { readonly nested: boolean; readonly reason?: string }): ServerInfo {
  return {
    uptime: process.uptime(),
    resources: { memory_rss_bytes: process.memoryUsage.rss(), processes: allProcesses().length },
    nested: nest.nested,
    ...(nest.reason !== undefined && { nested_reason: nest.reason }),
  };
}
