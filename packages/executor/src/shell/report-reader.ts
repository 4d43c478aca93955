/** What the shell says on its private line: NUL-terminated fields, of which the first names the kind, after a record separator. */
export type StateReport =
  | {
      readonly kind: 'end';
      readonly id: string;
      readonly code: number;
      readonly workingDir: string;
      readonly pid: number;
      readonly username: string;
      readonly hostname: string;
      readonly exports: string;
    }
  /** `state`: asked for while it goes on. */
  | { readonly kind: 'exit' | 'state'; readonly id: string; readonly code: number; readonly workingDir: string; readonly state: string };

/** `marked`: the mark that ends the output is written, so it comes, however late. */
export type Report = StateReport | { readonly kind: 'marked'; readonly id: string };

const FIELDS = { end: 8, exit: 5, state: 5, marked: 2 } as const;
const RECORD = '\u001e';
const MAX_BYTES = 4 * 1024 * 1024;

/** Splits the line into reports. Anything else on it (programs inherit the descriptor) is passed over. */
export function createReportReader(onReport: (report: Report) => void): { push(data: Buffer): void } {
  let pending: Buffer = Buffer.alloc(0);
  let fields: string[] = [];

  function take(field: string): void {
    const kind = field.startsWith(RECORD) ? field.slice(1) : undefined;
    if (kind !== undefined && Object.hasOwn(FIELDS, kind)) fields = [kind]; // one that an interrupt has cut is begun anew
    else if (fields.length > 0) fields.push(field);
    else return;
    if (fields.length < FIELDS[fields[0] as keyof typeof FIELDS]) return;
    onReport(toReport(fields));
    fields = [];
  }

  return {
    push(data) {
      pending = pending.length === 0 ? data : Buffer.concat([pending, data]);
      let from = 0;
      for (let end = pending.indexOf(0); end >= 0; end = pending.indexOf(0, from)) {
        take(pending.toString('utf8', from, end));
        from = end + 1;
      }
      pending = pending.subarray(from);
      if (pending.length > MAX_BYTES) pending = Buffer.alloc(0);
    },
  };
}

function toReport([kind, id = '', code = '', workingDir = '/', ...rest]: readonly string[]): Report {
  if (kind === 'marked') return { kind, id };
  const exitCode = Number.parseInt(code, 10) || 0;
  if (kind === 'exit' || kind === 'state') return { kind, id, code: exitCode, workingDir, state: rest[0] ?? '' };
  const [pid = '', username = '', hostname = '', exports = ''] = rest;
  return { kind: 'end', id, code: exitCode, workingDir, pid: Number.parseInt(pid, 10) || -1, username, hostname, exports };
}
