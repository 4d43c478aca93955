import { membersOf, pssMiB } from './process-memory.ts';
import type { Figures, Row, Run, Subject } from './row.ts';
import { start } from './target.ts';
import { configure } from './v0-client.ts';

/**
 * What each row measured. A subject that lacks what a row needs has none; a row that fails says why on stderr, and the others go on.
 * One kind of row after the other, because two kinds start the same server.
 */
export async function measureRows(subject: Subject, rows: readonly Row[], run: Run): Promise<Map<Row, Figures>> {
  const { name, target, command, build } = subject;
  const measured = new Map<Row, Figures>();
  const note = async (row: Row, measuring: Promise<Figures>): Promise<void> => {
    process.stderr.write(`${name}: ${row.title.trim()}\n`);
    const figures = await measuring.catch((error: Error) => void process.stderr.write(`  not measured: ${error.message}\n`));
    if (figures) measured.set(row, figures);
    else process.exitCode = 1;
  };
  for (const row of rows) if (row.of === 'target' && target) await note(row, row.measure(target, run));
  const shared = rows.filter((row) => row.of === 'server');
  if (target && shared.length > 0) {
    const running = await start(target);
    try {
      await configure(target.url, run.model.url);
      const server = { url: target.url, memory: () => pssMiB(membersOf(running.pid, target.home)) };
      for (const row of shared) await note(row, row.measure(server, run));
    } finally {
      await running.stop();
    }
  }
  for (const row of rows) if (row.of === 'command' && command) await note(row, row.measure(command, run));
  for (const row of rows) if (row.of === 'build' && build) await note(row, row.measure(build, run));
  return measured;
}
