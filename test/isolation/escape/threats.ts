import type { Threat } from './threat.ts';
import { HOST_FILES } from './threats/host-files.ts';
import { HOST_TRACES } from './threats/host-traces.ts';
import { KERNEL } from './threats/kernel.ts';
import { LASTING } from './threats/lasting.ts';
import { MACHINE } from './threats/machine.ts';
import { NEIGHBOUR } from './threats/neighbour.ts';
import { NETWORK } from './threats/network.ts';
import { PAST_THE_PROXY } from './threats/past-the-proxy.ts';
import { PROCESSES } from './threats/processes.ts';
import { RESOURCES } from './threats/resources.ts';
import { SERVER } from './threats/server.ts';

/** The table of threats, in the order in which it is run and published (docs/spec/threats.md). */
export const THREATS = [
  { rule: 'SB121', title: 'Files of the host', threats: [...HOST_FILES, ...HOST_TRACES] },
  { rule: 'SB122', title: 'Processes', threats: PROCESSES },
  { rule: 'SB123', title: 'Rights and the kernel', threats: [...KERNEL, ...MACHINE] },
  { rule: 'SB124', title: 'Network', threats: [...NETWORK, ...PAST_THE_PROXY] },
  { rule: 'SB125', title: 'The server and other conversations', threats: SERVER },
  { rule: 'SB510', title: 'Taking it from the sandbox beside it', threats: NEIGHBOUR },
  { rule: 'SB126', title: 'Using everything up, and staying', threats: [...LASTING, ...RESOURCES] },
] as const satisfies readonly { readonly rule: string; readonly title: string; readonly threats: readonly Threat[] }[];
