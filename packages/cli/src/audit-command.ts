import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { InvalidArgumentError } from 'commander';
import type { AuditReader, AuditVerdict } from '@tendon/server/headless';
import type { AuditHead } from '@tendon/protocol';
import { EXIT, type AddCommand } from './add-command.ts';
import { addHomeCommands, type HomeOptions, type Report } from './home-commands.ts';
import { printable } from './terminal/printable.ts';

const HELP = `
The audit log records who did what that matters to security; TENDON_AUDIT=on switches it on. Each entry has the hash of the one before it and
a seal under the servers' secret (JWT_SECRET), so verify finds entries that were changed, removed, added or reordered.
Store the head that verify prints on another machine, and pass it to a later run: that proves that the end was not cut off since.
Exit code: 0 the log is intact, 1 it was tampered with or could not be read, 2 wrong usage.`;

interface VerifyOptions extends HomeOptions {
  readonly file?: string;
  readonly head: readonly Omit<AuditHead, 'seal'>[];
}

export const auditCommand: AddCommand = (...program) => {
  const [, end] = program;
  const { add, carryOut } = addHomeCommands<AuditReader>(program, {
    name: 'audit',
    description: 'verify or export the log of who did what',
    help: HELP,
    open: async (config) => (await import('@tendon/server/headless')).openAuditReader(config),
  });

  add('verify', 'check that nothing was changed; reports the first wrong entry')
    .option('--file <path>', 'check a file that "export" wrote, instead of the log of the home; without its seals')
    .option('--head <sequence:hash>', 'a head that an earlier run printed; may be repeated', addHead, [])
    .action(async ({ file, head, ...options }: VerifyOptions) => {
      if (file === undefined) return carryOut(options, async (log) => report(await log.verify(head)));
      const { verifyAudit } = await import('@tendon/server/headless');
      const { json, text, code = EXIT.done } = report({ ...(await verifyAudit(linesOf(file), { heads: head })), areSealsChecked: false });
      process.stdout.write(`${options.json ? JSON.stringify(json, undefined, 2) : text}\n`);
      end(code);
    });
  add('export', 'print every entry as a line of JSON, oldest first').action(({ home }: HomeOptions) =>
    carryOut({ ...(home !== undefined && { home }) }, async (log) => {
      let count = 0;
      for await (const entry of log.entries()) {
        count += 1;
        if (!process.stdout.write(`${JSON.stringify(entry)}\n`)) await new Promise((resolve) => process.stdout.once('drain', resolve));
      }
      return { json: { entries: count }, text: undefined };
    }),
  );
};

function report(verdict: AuditVerdict & { readonly areSealsChecked: boolean }): Report {
  if (!verdict.ok) return { json: verdict, text: `Entry ${verdict.at} ${printable(verdict.problem)}.`, code: EXIT.failed };
  const { entries, newest, areSealsChecked } = verdict;
  const head = newest && `${newest.sequence}:${newest.hash}`;
  if (head === undefined) {
    const text = 'It has no entries: no server has written one yet, or all were removed.';
    return { json: { ok: false, entries }, text, code: EXIT.failed };
  }
  const seals = areSealsChecked ? '' : '\nThe seals were not checked: that needs the JWT_SECRET of the servers.';
  return {
    json: { ok: true, entries, head, areSealsChecked },
    text: `${entries} entries, all as they were written.\nhead ${head}${seals}`,
  };
}

function addHead(text: string, before: readonly Omit<AuditHead, 'seal'>[]): readonly Omit<AuditHead, 'seal'>[] {
  const [, sequence, hash] = /^([1-9]\d{0,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (hash === undefined) throw new InvalidArgumentError('a head is a number, a colon and 64 hexadecimal digits, as verify prints it.');
  return [...before, { sequence: Number(sequence), hash }];
}

async function* linesOf(path: string): AsyncGenerator<unknown, void, undefined> {
  for await (const line of createInterface({ input: createReadStream(path) })) {
    if (line.trim() !== '') yield parsed(line);
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
