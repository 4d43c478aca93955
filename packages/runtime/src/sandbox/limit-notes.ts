import type { ExecuteResult } from '@tendon/core';
import type { ObservationDraft } from '@tendon/protocol';
import { limitEventsIn, type Limits } from '../processes/control-group.ts';
import { sizeText } from '../size-text.ts';

/** Notes in plain words which limit of its sandbox an action ran into. Measured outside: what runs inside cannot see its limits. */
export interface LimitWatch {
  /** Before an action goes out; what comes back adds the words to its result. */
  begin(): (result: ExecuteResult) => ExecuteResult;
  /** Of a sandbox that was found dead: a clause, if its groups know something. */
  whyEnded(): string | undefined;
}

/** Exit code of a command that was ended for writing past the size of a file (128 + SIGXFSZ). */
const TOO_LARGE = 153;

export function watchLimits(groups: readonly string[], limits: Limits | undefined): LimitWatch {
  if (limits === undefined) return { begin: () => (result) => result, whyEnded: () => undefined };
  const memory = `the sandbox's memory limit of ${sizeText(limits.memoryBytes)} was reached`;
  const processes = `the sandbox's limit of ${limits.processes} processes and threads was reached`;
  return {
    begin() {
      const before = limitEventsIn(groups);
      return (result) => {
        const now = limitEventsIn(groups);
        const notes = [
          ...(now.memory > before.memory ? [`${memory}, and a process was ended for it`] : []),
          ...(now.processes > before.processes ? [`${processes}: no more could be started`] : []),
        ];
        return withNotes(result, result.outcome === 'observed' ? [...notes, ...foundInOutput(result.observation, limits)] : notes);
      };
    },
    whyEnded: () => (limitEventsIn(groups).memory > 0 ? memory : undefined),
  };
}

/** What the kernel reports only to the program that ran into it. */
function foundInOutput({ content, extras }: ObservationDraft, limits: Limits): readonly string[] {
  const { metadata } = extras as { readonly metadata?: { readonly exit_code?: number } };
  return [
    ...(metadata?.exit_code === TOO_LARGE || /file too large/i.test(content)
      ? [`a file in the sandbox can be ${sizeText(limits.fileBytes)} at most`]
      : []),
    ...(/too many open files/i.test(content) ? [`a process in the sandbox can have ${limits.openFiles} files open`] : []),
    ...(Number.isFinite(limits.tmpBytes) && /no space left on device/i.test(content)
      ? [`/tmp, /var/tmp and /dev/shm hold ${sizeText(limits.tmpBytes)} each; the workspace and the home are on the disk`]
      : []),
  ];
}

/** Beside the output of a command, never in it; other observations have no such place. */
function noted(observation: ObservationDraft, notes: readonly string[]): ObservationDraft {
  const text = notes.map((note) => `\n[${note[0]?.toUpperCase()}${note.slice(1)}.]`).join('');
  if (observation.observation !== 'run') return { ...observation, content: observation.content + text } as ObservationDraft;
  const { extras } = observation as ObservationDraft<'run'>;
  const metadata = { ...extras.metadata, suffix: extras.metadata.suffix + text };
  return { ...observation, extras: { ...extras, metadata } } as ObservationDraft;
}

/** What came of an action, with words beside it. */
export function withNotes(result: ExecuteResult, notes: readonly string[]): ExecuteResult {
  if (notes.length === 0) return result;
  if (result.outcome === 'observed') return { ...result, observation: noted(result.observation, notes) };
  return { ...result, reason: [result.reason, ...notes].join('; ') };
}
