import { EditAction, ReadAction, type ActionDraft } from '@tendon/protocol';
import { z } from 'zod';
import { defineTool, lenientInteger, riskParameter, toRisk } from './define-tool.ts';

const parameters = z.object({
  command: z.enum(['view', 'create', 'str_replace', 'insert', 'undo_edit']),
  path: z.string().min(1).describe('Absolute path of a file or folder, e.g. /workspace/app.py.'),
  file_text: z.string().optional().describe('create: the whole content of the new file.'),
  old_str: z.string().optional().describe('str_replace: the text to replace, exactly as it stands; it must occur once.'),
  new_str: z.string().optional().describe('str_replace: what to put there, nothing to delete it. insert: the lines to insert.'),
  insert_line: lenientInteger.optional().describe('insert: the line after which to insert; 0 is the top.'),
  view_range: z.array(lenientInteger).length(2).optional().describe('view: first and last line, from 1; last -1 is the end.'),
  security_risk: riskParameter,
});

type Args = z.output<typeof parameters>;

const REQUIRED = {
  view: [],
  create: ['file_text'],
  str_replace: ['old_str'],
  insert: ['insert_line', 'new_str'],
  undo_edit: [],
} as const satisfies Record<Args['command'], readonly (keyof Args)[]>;

export const strReplaceEditor = defineTool({
  name: 'str_replace_editor',
  description: `View, create and edit files.
- view: a file with line numbers, or a folder two levels deep. create: a new file; it never overwrites one.
- str_replace: old_str must match exactly one place, white space included; give enough lines around it to be unique.
- insert: new_str after the line insert_line. undo_edit: take back the last edit of the file.`,
  parameters,
  toAction(args) {
    const missing = REQUIRED[args.command].find((name) => args[name] === undefined);
    return missing ? `the command "${args.command}" needs the parameter "${missing}".` : toAction(args);
  },
});

function toAction({ command, path, file_text, old_str, new_str, insert_line, view_range, security_risk }: Args): ActionDraft {
  const risk = toRisk(security_risk);
  if (command === 'view') {
    return ReadAction.create({ path, impl_source: 'oh_aci', view_range: view_range ?? null, security_risk: risk });
  }
  return EditAction.create({ command, path, file_text, old_str, new_str, insert_line, impl_source: 'oh_aci', security_risk: risk });
}
