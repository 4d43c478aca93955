import { Argument, type Command } from 'commander';
import { EXIT, type AddCommand } from './add-command.ts';

const HELP = `
bash:  echo 'source <(tendon completion bash)' >> ~/.bashrc
zsh:   echo 'source <(tendon completion zsh)' >> ~/.zshrc
fish:  tendon completion fish > ~/.config/fish/completions/tendon.fish`;

export const completionCommand: AddCommand = (program, end) => {
  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'which one').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', HELP)
    .action((shell: keyof typeof SCRIPTS) => {
      process.stdout.write(SCRIPTS[shell](wordsOf(program)));
      end(EXIT.done);
    });
};

/** The words that may follow, by the words before them; the empty text for `tendon` alone. */
type Following = ReadonlyMap<string, readonly { readonly word: string; readonly does: string }[]>;

function wordsOf(program: Command, before = ''): Following {
  const commands = program.commands.map((command) => ({ word: command.name(), does: command.description() }));
  const options = program.options.map(({ long, description }) => ({ word: long ?? '', does: description }));
  const inner = program.commands.flatMap((command) => [...wordsOf(command, `${before} ${command.name()}`.trim())]);
  return new Map([[before, [...commands, ...options].filter(({ word }) => word !== '')], ...inner]);
}

const SCRIPTS = { bash, zsh, fish } as const;

function bash(following: Following): string {
  return `_tendon() {
  local before="\${COMP_WORDS[*]:1:COMP_CWORD-1}" current="\${COMP_WORDS[COMP_CWORD]}" words=""
  case "$before" in
${casesOf(following)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _tendon tendon
`;
}

function zsh(following: Following): string {
  return `_tendon() {
  local before="\${words[2,CURRENT-1]}" words_of_tendon=""
  case "$before" in
${casesOf(following, 'words_of_tendon')}
  esac
  compadd -- \${=words_of_tendon}
  _files
}
compdef _tendon tendon
`;
}

/** The longest words first: what follows \`mcp login\` is not what follows \`mcp\`. */
function casesOf(following: Following, variable = 'words'): string {
  const entries = [...following].toSorted(([a], [b]) => b.length - a.length);
  return entries
    .map(([before, next]) => {
      const pattern = before === '' ? '*' : `"${before}"|"${before} "*`;
      return `    ${pattern}) ${variable}="${next.map(({ word }) => word).join(' ')}" ;;`;
    })
    .join('\n');
}

function fish(following: Following): string {
  const lines = [...following].flatMap(([before, next]) => {
    const inner = next.filter(({ word }) => !word.startsWith('-')).map(({ word }) => word);
    const words = before.split(' ').filter((word) => word !== '');
    const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`);
    // Words that follow only the group do not follow its subcommands.
    const hasMore = words.length > 0 && inner.length > 0 ? [`not __fish_seen_subcommand_from ${inner.join(' ')}`] : [];
    const when = words.length === 0 ? '__fish_use_subcommand' : [...seen, ...hasMore].join('; and ');
    return next.map(({ word, does }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`;
      return `complete -c tendon -n '${when}' ${what} -d '${does.replaceAll(/['\\\\]/g, '')}'`;
    });
  });
  return `${lines.join('\n')}\n`;
}
