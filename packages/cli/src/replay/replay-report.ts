import { printable } from '../terminal/printable.ts';
import type { Step } from './planned-steps.ts';
import type { ReplayResult } from './replay-steps.ts';

const MAX_LINES = 40;

/** For people. */
export function replayReport({ done, compared, left, differences }: ReplayResult): string {
  const parts = differences.map(
    ({ event, action, what, recorded, replayed }) =>
      `Event ${event}, ${shortly(action)}: the ${what} differs.\n${marked('-', recorded)}\n${marked('+', replayed)}\n`,
  );
  const counts = `${done} done again, ${compared} compared${left > 0 ? `, ${left} left out` : ''}`;
  return `${parts.join('')}${differences.length > 0 ? 'Different' : 'Equal'}: ${counts}.\n`;
}

/** For programs: one line. */
export function replayJson(result: ReplayResult): string {
  const differences = result.differences.map(({ action, ...rest }) => ({ ...rest, action: action.action, args: action.args }));
  return `${JSON.stringify({ equal: differences.length === 0, ...result, differences })}\n`;
}

/** An action in a few words. */
export function shortly({ action, args }: Step['action']): string {
  const { command, code, path } = args as { readonly command?: string; readonly code?: string; readonly path?: string };
  const said = printable(JSON.stringify(path ?? command ?? code ?? ''));
  return `${action} ${said.length > 80 ? `${said.slice(0, 77)}…"` : said}`;
}

function marked(mark: string, text: string): string {
  const lines = printable(text).split('\n');
  const more = lines.length - MAX_LINES;
  const shown = more > 0 ? [...lines.slice(0, MAX_LINES), `… ${more} more lines; --json has them all`] : lines;
  return shown.map((line) => `${mark} ${line}`).join('\n');
}
