import { ReadAction } from '@tendon/protocol';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';

const path = z.string().optional().describe('Default: the workspace.');

export const grep = defineTool({
  name: 'grep',
  description:
    'Find lines in files by a regular expression, (?i) before it to ignore case. Leaves out what .gitignore names and binary files.',
  parameters: z.object({
    pattern: z.string().min(1),
    path,
    include: z.string().optional().describe('Only files that match this glob, e.g. *.ts or src/**.'),
  }),
  toAction: ({ pattern, path: at = '.', include }) =>
    ReadAction.create({ path: at, search: { kind: 'grep', pattern, ...(include && { include }) } }),
});

export const glob = defineTool({
  name: 'glob',
  description: 'Find files by name, e.g. *.test.ts (in any folder) or src/**/*.py. Leaves out what .gitignore names.',
  parameters: z.object({ pattern: z.string().min(1), path }),
  toAction: ({ pattern, path: at = '.' }) => ReadAction.create({ path: at, search: { kind: 'glob', pattern } }),
});
