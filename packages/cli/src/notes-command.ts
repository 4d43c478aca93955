import { EXIT, type AddCommand } from './add-command.ts';
import { addHomeCommands, type HomeOptions } from './home-commands.ts';
import { printable } from './terminal/printable.ts';

const HELP = `
Agents write down what later conversations should know: in notes/user.md of the home for all conversations, in notes/repositories/ for those
of one repository or folder. Each conversation begins with its notes. They are plain text, one note a line: edit them with any editor.
To switch notes off, leave note out of AGENT_TOOLS.
Exit code: 0 done, 1 a file cannot be read, 2 wrong usage.`;

export const notesCommand: AddCommand = (...program) => {
  const { add, carryOut } = addHomeCommands(program, {
    name: 'notes',
    description: 'list the files in which agents remember things between conversations',
    help: HELP,
    open: async ({ home }) => {
      const { Notes } = await import('@tendon/server/headless');
      // The files are the user's own, who may read them as they are.
      const notes = new Notes(home, { text: (text) => text });
      return { list: () => notes.list(), [Symbol.asyncDispose]: async () => undefined };
    },
  });

  add('list', 'every file of notes (the default)').action((options: HomeOptions) =>
    carryOut(options, async ({ list }) => {
      const files = await list();
      const parts = files.map(({ path, text, problem }) =>
        [path, problem === undefined ? text.trimEnd() || '(nothing is noted)' : `It does not count: ${problem}.`].join('\n'),
      );
      const code = files.some(({ problem }) => problem !== undefined) ? EXIT.failed : EXIT.done;
      return { json: { files }, text: printable(parts.join('\n\n')), code };
    }),
  );
};
