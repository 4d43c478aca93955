import type { Threat } from './threat.ts';
import { HOST_FILES } from './threats/host-files.ts';
import { KERNEL } from './threats/kernel.ts';
import { NETWORK } from './threats/network.ts';
import { PROCESSES } from './threats/processes.ts';
import { RESOURCES } from './threats/resources.ts';
import { SERVER } from './threats/server.ts';

/** The table of threats, in the order in which it is run and published (docs/spec/threats.md). */
export const THREATS = [
  { rule: 'SB121', title: 'Files of the host', threats: HOST_FILES },
  { rule: 'SB122', title: 'Processes', threats: PROCESSES },
  { rule: 'SB123', title: 'Rights and the kernel', threats: KERNEL },
  { rule: 'SB124', title: 'Network', threats: NETWORK },
  { rule: 'SB125', title: 'The server and other conversations', threats: SERVER },
  { rule: 'SB126', title: 'Using everything up, and staying', threats: RESOURCES },
] as const satisfies readonly { readonly rule: string; readonly title: string; readonly threats: readonly Threat[] }[];
