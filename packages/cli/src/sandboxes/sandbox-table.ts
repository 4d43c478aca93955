import type { SandboxInfo } from '@tendon/protocol';
import { aligned } from '../terminal/aligned.ts';
import { printable } from '../terminal/printable.ts';
import { sizeOf } from '../terminal/size-of.ts';

const COLUMNS = [
  'CONVERSATION',
  'TITLE',
  'DRIVER',
  'HOST',
  'STATE',
  'STRENGTH',
  'UP',
  'IDLE',
  'MEMORY',
  'PROCESSES',
  'DISK',
  'PORTS',
] as const;
const TITLE_CHARS = 30;

/** For people, one line each. */
export function tableOf(sandboxes: readonly SandboxInfo[]): string {
  if (sandboxes.length === 0) return 'There are no sandboxes.';
  return aligned([COLUMNS, ...sandboxes.map(rowOf)]);
}

function rowOf(one: SandboxInfo): readonly string[] {
  return [
    one.conversation_id,
    printable(one.title ?? '-').slice(0, TITLE_CHARS),
    one.driver,
    printable(one.host ?? '-'),
    one.state,
    one.strength ?? '-',
    one.state === 'awake' ? durationOf(one.uptime_seconds) : '-',
    one.idle_seconds === null ? '-' : durationOf(one.idle_seconds),
    one.processes === 0 ? '-' : sizeOf(one.memory_bytes),
    one.processes === 0 ? '-' : String(one.processes),
    diskOf(one),
    one.ports.length === 0 ? '-' : one.ports.join(','),
  ];
}

/** Another host measures its own sandboxes. */
function diskOf({ disk_is_complete: isComplete, disk_bytes: bytes }: SandboxInfo): string {
  if (!isComplete && bytes === 0) return '-';
  return `${isComplete ? '' : '>'}${sizeOf(bytes)}`;
}

function durationOf(seconds: number): string {
  if (seconds < 60) return `${Math.floor(seconds)}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m`;
  return `${Math.floor(seconds / 86_400)}d${Math.floor((seconds % 86_400) / 3600)}h`;
}
