import { EditAction, patchedPaths } from '@tendon/protocol';
import { z } from 'zod';
import { defineTool, riskParameter, toRisk } from './define-tool.ts';

export const multiEdit = defineTool({
  name: 'multi_edit',
  description: 'Make several replacements in one file, all or none. Each works on what the ones before it left, as str_replace does.',
  parameters: z.object({
    path: z.string().min(1).describe('Absolute path.'),
    edits: z.array(z.object({ old_str: z.string().min(1), new_str: z.string() })).min(1),
    security_risk: riskParameter,
  }),
  toAction: ({ path, edits, security_risk }) =>
    EditAction.create({ command: 'multi_edit', path, edits, impl_source: 'oh_aci', security_risk: toRisk(security_risk) }),
});

export const applyPatch = defineTool({
  name: 'apply_patch',
  description: `Change several files at once, all or none. The patch:
*** Begin Patch
*** Update File: src/a.py
@@ def total
 a line that stays
-a line that goes
+a line that comes
*** Add File: b.txt
+each line with a plus
*** Delete File: c.txt
*** End Patch
A unified diff is taken too.`,
  parameters: z.object({ patch: z.string().min(1), security_risk: riskParameter }),
  toAction: ({ patch, security_risk }) =>
    EditAction.create({
      command: 'apply_patch',
      path: patchedPaths(patch)[0] ?? '.',
      patch,
      impl_source: 'oh_aci',
      security_risk: toRisk(security_risk),
    }),
});
