import { shellQuote } from '@tendon/protocol/executor-api';
import { bash, createFile, fenced, finished, once, type DemoMove, type DemoSkill, failed } from './demo-skill.ts';
import { NAME, unquoted, workspacePath, WORKSPACE, type DemoTurn, type ToolResult } from './read-request.ts';
import { outside } from './script-skills.ts';

type Results = readonly ToolResult[];

const the = '(?:please\\s+)?';
const FILE = '(?:the\\s+|a\\s+|an\\s+)?(?:new\\s+|empty\\s+)?(?:text\\s+)?file\\s+';

/** A skill of one sentence pattern whose first group is a path in the workspace; the other groups are texts. */
function onPath(example: string, pattern: RegExp, next: (path: string, rest: readonly string[], results: Results) => DemoMove): DemoSkill {
  return {
    example,
    next: ({ task, results }: DemoTurn) => {
      const groups = pattern.exec(task)?.groups;
      if (!groups) return undefined;
      const { path: name = '', ...rest } = groups;
      const path = workspacePath(name);
      return path === undefined ? outside(name) : next(path, [rest.a ?? '', rest.b ?? ''].map(unquoted), results);
    },
  };
}

const CREATE = new RegExp(
  `^${the}(?:create|make|write|add)\\s+${FILE}(?:(?:called|named)\\s+)?(?<path>${NAME})` +
    `(?:\\s*,?\\s+(?:(?:with|containing|that (?:says|contains)|saying)\\s+(?:(?:the|this)\\s+)?(?:(?:text|content|contents|line)\\s*:?\\s*)?)(?<a>.+))?$`,
  'is',
);
const READ = new RegExp(
  `^${the}(?:read|show|cat|open|display|view|print)\\s+(?:me\\s+)?(?:the\\s+)?(?:contents?\\s+of\\s+)?(?:the\\s+)?(?:file\\s+)?(?<path>${NAME})$`,
  'i',
);
const WHICH = '(?:files?|folders?|contents?|workspace|everything)';
const LIST = new RegExp(
  `^${the}(?:ls|(?:list|show)(?:\\s+me)?(?:\\s+all)?(?:\\s+the)?(?:\\s+${WHICH})?|what(?:'s| is| are)?(?:\\s+the)?\\s+${WHICH}(?:\\s+are)?(?:\\s+(?:here|there))?|what(?:'s| is)(?=\\s+in\\b))` +
    `(?:\\s+(?:in|of|under)\\s+(?:the\\s+)?(?:folder\\s+|directory\\s+)?(?<path>${NAME}))?(?:\\s+(?:folder|directory))?\\s*\\??$`,
  'i',
);
const REPLACE = new RegExp(
  `^${the}(?:replace|change)\\s+(?<a>${NAME}|.+?)\\s+(?:by|with|to|into)\\s+(?<b>${NAME}|.+?)\\s+in\\s+(?:the\\s+)?(?:file\\s+)?(?<path>${NAME})$`,
  'is',
);
const APPEND = new RegExp(
  `^${the}(?:append|add)\\s+(?:the\\s+(?:line|text)\\s+)?(?<a>.+?)\\s+to\\s+(?:the\\s+end\\s+of\\s+)?(?:the\\s+)?(?:file\\s+)?(?<path>${NAME})$`,
  'is',
);
const FOLDER = new RegExp(
  `^${the}(?:mkdir|(?:create|make|add)\\s+(?:a\\s+|the\\s+)?(?:new\\s+)?(?:folder|directory))\\s+(?:(?:called|named)\\s+)?(?<path>${NAME})$`,
  'i',
);
const DELETE = new RegExp(`^${the}(?:delete|remove|rm)\\s+(?:the\\s+)?(?:file\\s+)?(?<path>${NAME})$`, 'i');
const COUNT = new RegExp(
  `^${the}(?:count|how many)\\s+(?:the\\s+)?(?<a>lines?|words?|characters?|bytes)(?:\\s+(?:are\\s+)?(?:there\\s+)?|\\s+)(?:in|of)\\s+(?:the\\s+)?(?:file\\s+)?(?<path>${NAME})\\s*\\??$`,
  'i',
);
const FIND = new RegExp(
  `^${the}(?:find|search|grep|look)\\s+(?:for\\s+)?(?:the\\s+(?:text|word)\\s+)?(?<a>${NAME}|.+?)(?:\\s+in\\s+(?:the\\s+)?(?:file\\s+|folder\\s+)?(?<path>${NAME}))?$`,
  'is',
);
const PAGE = new RegExp(
  `^${the}(?:create|make|write|build)\\s+(?:me\\s+)?(?:a|an)\\s+(?:tiny |small |simple |little )?(?:web\\s?page|web\\s?site|html (?:page|file))(?:\\s+(?:called|named)\\s+(?<path>${NAME}))?(?:\\s+(?:that says|saying|about|with(?: the (?:text|title))?)\\s+(?<a>.+))?$`,
  'is',
);

export const FILE_SKILLS: readonly DemoSkill[] = [
  onWorkspace('make a tiny web page that says Good morning', PAGE, 'index.html', (path, [title = ''], results) =>
    once(results, createFile(`I write the page to ${path}.`, path, page(title || 'Hello')), () =>
      finished(`I wrote the page ${path}. It shows “${title || 'Hello'}”.`),
    ),
  ),
  onPath('create a file called notes.txt with the text Buy milk', CREATE, (path, [text = ''], results) =>
    once(results, createFile(`I create ${path}.`, path, text === '' ? '' : `${text}\n`), () =>
      finished(`I created ${path}${text === '' ? ', empty' : ` with:\n\n${fenced(text)}`}`),
    ),
  ),
  onPath('replace milk by bread in notes.txt', REPLACE, (path, [before = '', after = ''], results) =>
    replace(path, before, after, results),
  ),
  onPath('append "and eggs" to notes.txt', APPEND, (path, [text = ''], results) =>
    once(
      results,
      bash(`I add a line to ${path}.`, `printf '%s\\n' ${shellQuote(text)} >> ${shellQuote(path)} && tail -n 3 -- ${shellQuote(path)}`),
      ({ text: tail }) => finished(`I added the line to ${path}. It now ends with:\n\n${fenced(tail)}`),
    ),
  ),
  onPath('count the lines in notes.txt', COUNT, (path, [what = ''], results) => count(path, what, results)),
  onWorkspace('find milk in notes.txt', FIND, '.', (path, [text = ''], results) => find(path, text, results)),
  onPath('make a folder called drafts', FOLDER, (path, _rest, results) =>
    once(results, bash(`I make the folder ${path}.`, `mkdir -p -- ${shellQuote(path)} && ls -ld -- ${shellQuote(path)}`), () =>
      finished(`The folder ${path} is there.`),
    ),
  ),
  onPath('delete notes.txt', DELETE, (path, _rest, results) =>
    once(results, bash(`I delete the file ${path}; a folder I would leave alone.`, `rm -- ${shellQuote(path)}`), () =>
      finished(`I deleted ${path}.`),
    ),
  ),
  onWorkspace('list the files', LIST, '.', (path, _rest, results) =>
    once(results, bash(`I list ${path}.`, `ls -la -- ${shellQuote(path)}`), ({ text }) => finished(`In ${path}:\n\n${fenced(text)}`)),
  ),
  onPath('read notes.txt', READ, (path, _rest, results) =>
    once(results, { type: 'call', thought: `I read ${path}.`, tool: 'str_replace_editor', args: { command: 'view', path } }, ({ text }) =>
      finished(`${path}:\n\n${fenced(text)}`),
    ),
  ),
];

/** The same with a path that may be left out. */
function onWorkspace(example: string, pattern: RegExp, otherwise: string, next: Parameters<typeof onPath>[2]): DemoSkill {
  return {
    example,
    next: ({ task, results }) => {
      const groups = pattern.exec(task)?.groups;
      if (!groups) return undefined;
      const name = /^(?:here|workspace|this|it)\??$/i.test(groups.path ?? 'here') ? otherwise : (groups.path ?? otherwise);
      const path = workspacePath(name.replace(/\?$/, '') === '.' ? `${WORKSPACE}/` : name);
      return path === undefined ? outside(name) : next(path, [groups.a ?? '', groups.b ?? ''].map(unquoted), results);
    },
  };
}

function replace(path: string, before: string, after: string, results: Results): DemoMove {
  const args = { command: 'str_replace', path, old_str: before, new_str: after };
  const call: DemoMove = { type: 'call', thought: `I replace “${before}” by “${after}” in ${path}.`, tool: 'str_replace_editor', args };
  return once(results, call, ({ text }) => finished(`I replaced “${before}” by “${after}” in ${path}.\n\n${fenced(text)}`));
}

function count(path: string, what: string, results: Results): DemoMove {
  const [flag, noun] = /^l/i.test(what)
    ? ['-l', 'lines']
    : /^w/i.test(what)
      ? ['-w', 'words']
      : /^b/i.test(what)
        ? ['-c', 'bytes']
        : ['-m', 'characters'];
  return once(results, bash(`I count the ${noun} of ${path}.`, `wc ${flag} < ${shellQuote(path)}`), ({ text }) =>
    finished(`${path} has ${text.trim()} ${text.trim() === '1' ? noun.slice(0, -1) : noun}.`),
  );
}

/** grep answers 1 when nothing was found, which is an answer and not a failure. */
function find(path: string, text: string, results: Results): DemoMove {
  const [result] = results;
  if (result?.exitCode === 1 && result.text.trim() === '') return finished(`“${text}” does not occur in ${path}.`);
  return once(
    results,
    bash(`I look for “${text}” in ${path}.`, `grep -rnHIF -e ${shellQuote(text)} -- ${shellQuote(path)}`),
    ({ text: found }) => finished(`“${text}” occurs here:\n\n${fenced(found)}`),
  );
}

function page(title: string): string {
  const text = title.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${text}</title>
    <style>
      body { display: grid; place-items: center; min-height: 100vh; margin: 0; font: 1.5rem system-ui, sans-serif; color-scheme: light dark; }
    </style>
  </head>
  <body>
    <h1>${text}</h1>
  </body>
</html>
`;
}

const RUN = /^(?:please\s+)?(?:(?:run|execute)(?:\s+the)?(?:\s+(?:shell\s+|bash\s+)?command)?\s*:?\s+(?=\S)|\$\s+)(.+)$/is;
const RUN_COLON = /^(?:please\s+)?(?:run|execute):\s*(.+)$/is;
const GIT_INIT = /\bgit\s+init\b|\b(?:initiali[sz]e|create|make|start)\s+(?:a\s+|an\s+)?(?:new\s+|empty\s+)?git\s+(?:repo|repository)\b/i;

/** Questions that one command answers. */
const FACTS: readonly { readonly example: string; readonly pattern: RegExp; readonly command: string; readonly what: string }[] = [
  {
    example: 'what time is it?',
    pattern: /\bwhat(?:'s| is)? (?:the )?(?:time|date|day)\b/i,
    command: 'date',
    what: 'The date and time here',
  },
  {
    example: 'which operating system is this?',
    pattern: /\b(?:which|what) (?:is the )?(?:os|operating system|linux|distribution|kernel|system)\b/i,
    command: '. /etc/os-release 2>/dev/null; echo "${PRETTY_NAME:-unknown}, $(uname -srm)"',
    what: 'The system',
  },
  { example: 'how much disk space is left?', pattern: /\b(?:disk space|free space|disk usage)\b/i, command: 'df -h .', what: 'Disk space' },
  {
    example: 'how much memory is there?',
    pattern: /\b(?:how much|which|what) (?:free )?(?:memory|ram)\b/i,
    command: 'grep -E "^Mem(Total|Available)" /proc/meminfo',
    what: 'Memory',
  },
  {
    example: 'where am I?',
    pattern: /^(?:where am i|who am i|pwd|whoami)\b/i,
    command: 'echo "$(id -un) in $(pwd)"',
    what: 'User and folder',
  },
];

export const SYSTEM_SKILLS: readonly DemoSkill[] = [
  {
    example: 'run `ls -la`',
    next: ({ task, results }) => {
      const match = RUN_COLON.exec(task) ?? RUN.exec(task);
      return match ? run(commandOf(match[1] ?? ''), results) : undefined;
    },
  },
  {
    example: 'initialise a git repository',
    next: ({ task, results }) =>
      GIT_INIT.test(task)
        ? once(
            results,
            bash('I make the workspace a git repository.', 'git -C /workspace init && git -C /workspace status --short --branch'),
            ({ text }) => finished(`The workspace is a git repository now:\n\n${fenced(text)}`),
          )
        : undefined,
  },
  ...FACTS.map(({ example, pattern, command, what }) => ({
    example,
    next: ({ task, results }: { readonly task: string; readonly results: readonly ToolResult[] }) =>
      pattern.test(task)
        ? once(results, bash('I ask the system.', command), ({ text }) => finished(`${what}:\n\n${fenced(text)}`))
        : undefined,
  })),
];

/** The command inside backquotes or a fenced block, else the text as it is. */
function commandOf(text: string): string {
  const block = /^```\w*\n(.*?)\n?```\s*$/s.exec(text.trim()) ?? /^`([^`]+)`\s*\.?$/s.exec(text.trim());
  return block?.[1] ?? text.trim();
}

function run(command: string, results: readonly ToolResult[]): DemoMove {
  const [result] = results;
  if (!result) return bash('I run the command.', command);
  if (result.failed) return failed('That did not work', result);
  return finished(`The command ended with exit code ${result.exitCode ?? 0}:\n\n${fenced(result.text)}`);
}
