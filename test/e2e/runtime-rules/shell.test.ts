/** The rules of the shell, through the events of a conversation. */
import { provesRules } from './proves-rules.ts';
import { client, input, rule, run } from './rule-case.ts';

/** What the model can do with a command that runs on. */
const CHOICES = String.raw`You can send an empty command '' to wait for more output, .*`;
const hint = (words: string): RegExp => new RegExp(String.raw`^\n\[${words} ${CHOICES}\]$`);
const ended = (code: number): string => `\n[The command ended with exit code ${code}.]`;

provesRules([
  rule(
    'RT20',
    'folder, variables, functions, aliases and options stay',
    run('mkdir -p a && cd a; b=2; export C=3; f() { echo "f$1$b$C"; }; alias al="echo aliased"; set -o noglob', ''),
    run('f x; al; echo *; pwd', { content: 'fx23\naliased\n*\n/workspace/a', exitCode: 0, folder: '/workspace/a', suffix: ended(0) }),
    run('set +o noglob; cd /workspace; rmdir a', ''),
    run('(exit 7)', { content: '', exitCode: 7, suffix: ended(7) }),
    run('echo $?', '7'),
  ),
  rule(
    'RT21',
    'a command is a whole script',
    run('echo one\necho two\n(exit 3)', { content: 'one\ntwo', exitCode: 3 }),
    run("cat <<'EOF'\n$HOME `x` \\\nEOF\nfor i in 1 2; do\n  echo $i\ndone\necho a \\\n b\necho 'q\nr'", '$HOME `x` \\\n1\n2\na b\nq\nr'),
    run(`wc -l <<'END'\n${'a line of a long heredoc\n'.repeat(4000)}END`, '4000'),
    run("echo 'open", { content: /unexpected EOF/, exitCode: 2 }),
    run('echo zeile äöü 漢字 🙂 !!', 'zeile äöü 漢字 🙂 !!'),
  ),
  rule(
    'RT22',
    'content is what a terminal shows',
    run("printf '\\e[31mred\\e[0m \\e]0;title\\a\\e[1;32mgreen\\e[m\\n'", 'red green'),
    run("printf '10%%\\r50%%\\r100%%\\n'; printf 'long line\\r\\e[Kshort\\n'; printf 'ab\\bc\\n'", '100%\nshort\nac'),
    run("printf '  indented\\n\\nlast\\n\\n'", '  indented\n\nlast'),
  ),
  rule(
    'RT23',
    'background children that hold the terminal do not hang a command',
    run('sleep 300 & echo started', /started$/),
    run('(trap "" HUP; sleep 300) & disown; echo next', /next$/),
    run('pkill -9 sleep; wait; echo gone', /gone$/),
  ),
  rule(
    'RT24',
    'redirections, own prompts and options do not break the framing',
    run('exec >/tmp/redirected 2>&1; echo hidden', ''),
    run('(exit 5)', { content: '', exitCode: 5 }),
    run('exec >/dev/tty 2>&1; cat /tmp/redirected', 'hidden'),
    run('PS1="$ "; PS2="more "; PROMPT_COMMAND="echo prompt"', ''),
    run('echo quiet', 'quiet'),
    run('unset PROMPT_COMMAND; set -x', { exitCode: 0 }),
    run('echo traced', /echo traced\ntraced$/),
    run('set +x', { exitCode: 0 }),
  ),
  rule(
    'RT25',
    'a shell that ends is replaced by one with what it had, and that is said',
    run('export KEPT=yes; g() { echo "g $KEPT"; }; cd /tmp', ''),
    run('exit 3', {
      content: /^(?:exit)?$/,
      exitCode: 3,
      suffix:
        '\n[The command ended with exit code 3. It ended the shell; a new one was started in the same folder with the same exported variables.]',
    }),
    run('g; pwd', 'g yes\n/tmp'),
    run('set -e\nfalse\necho never', { content: '', exitCode: 1, suffix: /It ended the shell/ }),
    run('kill -9 $$', { exitCode: 137, suffix: /It ended the shell/ }),
    run('echo $KEPT; pwd; cd /workspace', 'yes\n/tmp'),
    run('exec sh -c "exit 4"', { exitCode: 4, suffix: /It ended the shell/ }),
    run('echo $KEPT', 'yes'),
  ),
  rule(
    'RT26',
    'a silent command is handed back after 10 seconds, one with a timeout after that',
    run('echo early; sleep 300', {
      content: 'early',
      exitCode: -1,
      folder: null,
      suffix: hint('Nothing new was printed for 10 seconds; the command is still running.'),
    }),
    input('C-c', { content: '^C', exitCode: 130, suffix: '\n[Interrupted by C-c: the command ended with exit code 130.]' }),
    run(
      'sleep 300',
      { content: '', exitCode: -1, suffix: hint('The time of 1 seconds is over; the command is still running.') },
      { timeout: 1 },
    ),
    input('C-c', { content: '^C', exitCode: 130 }),
    run('sleep 1.2; echo done', 'done', { timeout: 30 }),
  ),
  rule(
    'RT27',
    'while a command runs another is not executed',
    run('echo begun; sleep 300', { content: 'begun', exitCode: -1 }, { timeout: 1 }),
    run('echo refused', {
      content: '',
      exitCode: -1,
      prefix: '[New output of the command that was still running:]\n',
      suffix: hint('Not executed: "echo refused". An earlier command is still running, and only one can run at a time.'),
    }),
    input('C-c', { content: '^C', exitCode: 130 }),
  ),
  rule(
    'RT28',
    'input and keys reach the command that runs; with nothing running they are an error',
    run('read -r -p "name? " name; echo "hi $name"', { content: 'name?', exitCode: -1 }, { timeout: 1 }),
    input('Zoë', { content: 'hi Zoë', exitCode: 0 }),
    run('cat', { content: '', exitCode: -1 }, { timeout: 1 }),
    input('C-d', { content: '', exitCode: 0 }),
    input('C-c', { content: 'ERROR: No command is running that could take input.', exitCode: -1 }),
    run('', { content: 'ERROR: No command is running, and everything it printed has been shown.', exitCode: -1 }),
  ),
  rule(
    'RT29',
    'long output keeps both ends; what came between two actions comes with the next',
    run(
      'seq 1 100000',
      /^1\n2\n[^]*\n\[\.\.\. Observation truncated due to length: \d+ characters left out \.\.\.\]\n[^]*\n99999\n100000$/,
    ),
    run('sleep 2; echo late', { content: '', exitCode: -1 }, { timeout: 1 }),
    input('', { content: 'late', exitCode: 0 }),
  ),
  rule(
    'RT30',
    'bytes that are no text do no harm',
    run("printf 'a\\0b\\x01c\\xff\\xfe\\n'", 'abc\ufffd\ufffd'),
    run('head -c 200000 /dev/urandom', { exitCode: 0 }),
    run('echo still', 'still'),
  ),
  rule(
    'RT31',
    'static and background commands run beside the session; kill ends the latter with its children',
    run('cd /tmp; export SEEN=here', ''),
    client('run', { command: 'pwd; echo $SEEN', is_static: true }, { content: '/tmp\nhere', exitCode: 0 }),
    client(
      'run',
      { command: 'sleep 4321 & sleep 4321', background: true },
      { content: /^Background command started\. To stop it, send a `kill` action with id 0\./, exitCode: 0, extras: { command_id: 0 } },
    ),
    client(
      'kill',
      { id: '0' },
      { observation: 'run', content: 'Background command with id 0 has been killed.', extras: { command_id: 0 } },
    ),
    run('cd /workspace; pgrep -fc "sleep 4321"', { content: '0', exitCode: 1 }),
  ),
  rule(
    'RT32',
    'nothing pages, asks or wraps',
    run('stty size </dev/tty | cut -d" " -f2', '1000'),
    run('echo $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $DEBIAN_FRONTEND', 'cat cat 0 noninteractive'),
  ),
  rule(
    'RT33',
    'metadata has exit code, user, host, folder and Python',
    run('true', {
      content: '',
      extras: {
        command: 'true',
        metadata: {
          exit_code: 0,
          working_dir: '/workspace',
          username: /./,
          hostname: /./,
          py_interpreter_path: /python/,
          prefix: '',
          suffix: ended(0),
        },
      },
    }),
  ),
  rule(
    'RT34',
    'a shell inside the shell takes the commands until it ends',
    run('outer=1; bash --norc', { content: '', exitCode: 0 }),
    run('echo "inner $outer"; (exit 3)', { content: 'inner', exitCode: 3 }),
    run('exit 5', { content: 'exit', exitCode: 5 }),
    run('echo "outer $outer"', 'outer 1'),
  ),
  rule(
    'RT35',
    'a command that sleeps in a read of the terminal is handed back early',
    run('read -r line', { content: '', exitCode: -1, suffix: hint('The command prints nothing and waits for input.') }),
    input('x', { content: '', exitCode: 0 }),
  ),
  rule(
    'RT36',
    'of the descriptors of the executor a command has none but the line of the session',
    run('ls /proc/self/fd | sort -n | tr "\\n" " "', '0 1 2 3 250'),
  ),
  rule(
    'RT37',
    'line ends leave the terminal as they are written, and a command that changes that changes nothing else',
    run('stty -a </dev/tty | grep -o -- -opost', '-opost'),
    run('stty sane </dev/tty; printf "a\\nb\\n"', 'a\nb'),
    run('stty -opost </dev/tty; echo c', 'c'),
  ),
]);
