import { statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import type { ServerInfo } from '@tendon/protocol';

/** What this process uses and its disk has left; the disk of `folder`. Bytes, percent 0…100. */
export async function processResources(folder: string): Promise<ServerInfo['resources']> {
  const cpu = process.cpuUsage();
  const memory = process.memoryUsage();
  const disk = await statfs(folder).catch(() => undefined);
  const total = disk ? disk.blocks * disk.bsize : 0;
  const free = disk ? disk.bavail * disk.bsize : 0;
  const usage = process.resourceUsage();
  return {
    cpu_percent: ((cpu.user + cpu.system) / 1e6 / process.uptime()) * 100,
    memory: { rss: memory.rss, vms: memory.heapTotal + memory.external, percent: (memory.rss / totalmem()) * 100 },
    disk: { total, used: total - free, free, percent: total ? ((total - free) / total) * 100 : 0 },
    io: { read_bytes: usage.fsRead * 512, write_bytes: usage.fsWrite * 512 },
  };
}
