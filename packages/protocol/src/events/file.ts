import { z } from 'zod';
import { defineAction, defineObservation, securityRisk, thought } from '../define.ts';

const fileReadSource = z.enum(['default', 'oh_aci']);
const fileEditSource = z.enum(['llm_based_edit', 'oh_aci']);
const editCommand = z.enum(['view', 'create', 'str_replace', 'insert', 'undo_edit', 'write', 'multi_edit', 'apply_patch']);

/** What to look for at a path, in place of reading it: lines that a regular expression matches, or files whose path a glob matches. */
const search = z.object({ kind: z.enum(['grep', 'glob']), pattern: z.string(), include: z.string().optional() });

/** `start` and `end` count lines from 0, `end` exclusive, −1 to the end of the file. */
export const ReadAction = defineAction({
  kind: 'read',
  args: () => ({
    path: z.string(),
    start: z.number().int().default(0),
    end: z.number().int().default(-1),
    thought,
    security_risk: securityRisk,
    impl_source: fileReadSource.default('default'),
    /** `[first, last]`, counted from 1, inclusive; last −1 to the end. */
    view_range: z.array(z.number().int()).nullable().default(null),
    /** Our own. */
    search: search.optional(),
    /** Our own: the list of background commands, or with an id what one printed, from a byte on. */
    background: z.object({ id: z.string().optional(), offset: z.number().int().min(0).optional() }).optional(),
  }),
  traits: { answeredBy: 'runtime' },
  message: ({ path, search: wanted }) => (wanted ? `Searching ${path} for ${wanted.pattern}` : `Reading file: ${path}`),
});

export const WriteAction = defineAction({
  kind: 'write',
  args: () => ({
    path: z.string(),
    content: z.string(),
    start: z.number().int().default(0),
    end: z.number().int().default(-1),
    thought,
    security_risk: securityRisk,
  }),
  traits: { answeredBy: 'runtime', mutating: true, confirmable: true },
  message: (args) => `Writing file: ${args.path}`,
});

/** `start` and `end` (LLM mode) count lines from 1, inclusive, −1 to the end of the file. */
export const EditAction = defineAction({
  kind: 'edit',
  args: () => ({
    path: z.string(),
    command: editCommand.or(z.literal('')).default(''),
    file_text: z.string().nullable().default(null),
    old_str: z.string().nullable().default(null),
    new_str: z.string().nullable().default(null),
    insert_line: z.number().int().nullable().default(null),
    content: z.string().default(''),
    start: z.number().int().default(1),
    end: z.number().int().default(-1),
    thought,
    security_risk: securityRisk,
    impl_source: fileEditSource.default('oh_aci'),
    /** Our own: for `multi_edit`. */
    edits: z.array(z.object({ old_str: z.string(), new_str: z.string() })).optional(),
    /** Our own: for `apply_patch`. */
    patch: z.string().optional(),
  }),
  traits: { answeredBy: 'runtime', mutating: true, confirmable: true },
  message: () => '',
});

export const ReadObservation = defineObservation({
  kind: 'read',
  extras: () => ({ path: z.string(), impl_source: fileReadSource.default('default'), search: search.optional() }),
  message: (extras) => (extras.search ? `I searched ${extras.path} for ${extras.search.pattern}.` : `I read the file ${extras.path}.`),
});

export const WriteObservation = defineObservation({
  kind: 'write',
  extras: () => ({ path: z.string() }),
  message: (extras) => `I wrote to the file ${extras.path}.`,
});

export const EditObservation = defineObservation({
  kind: 'edit',
  extras: () => ({
    path: z.string(),
    prev_exist: z.boolean().default(false),
    old_content: z.string().nullable().default(null),
    new_content: z.string().nullable().default(null),
    impl_source: fileEditSource.default('oh_aci'),
    diff: z.string().nullable().default(null),
  }),
  message: (extras, content) =>
    content.startsWith('ERROR:') ? `The file ${extras.path} was not edited.` : `I edited the file ${extras.path}.`,
});

/** A file that a tool brought into the workspace. */
export const DownloadObservation = defineObservation({
  kind: 'download',
  extras: () => ({ file_path: z.string() }),
  message: (extras) => `Downloaded the file at location: ${extras.file_path}`,
});
