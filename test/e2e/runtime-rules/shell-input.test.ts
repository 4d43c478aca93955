/** More of RT35: what waits for the keyboard and what does not, through the events of a conversation. */
import { provesRules } from './proves-rules.ts';
import { input, rule, run } from './rule-case.ts';

const CHOICES = String.raw`You can send an empty command '' to wait for more output, .*`;
const hint = (words: string): RegExp => new RegExp(String.raw`^\n\[${words} ${CHOICES}\]$`);
const waits = (content: string | RegExp) =>
  ({ content, exitCode: -1, folder: null, suffix: hint('The command prints nothing and waits for input.') }) as const;
const silent = { content: '', exitCode: -1, suffix: hint('The time of 4 seconds is over; the command is still running.') } as const;
const done = (content: string) => ({ content, exitCode: 0, suffix: '\n[The command ended with exit code 0.]' }) as const;
const interrupted = { content: '^C', exitCode: 130, suffix: '\n[Interrupted by C-c: the command ended with exit code 130.]' } as const;

provesRules([
  rule('RT35', 'input() of Python', run(`python3 -c 'print(input("name? "))'`, waits('name?')), input('Zoë', done('Zoë'))),
  rule(
    'RT35',
    'a Python that asks with select',
    run('python3 -q', waits('>>>')),
    input('6 * 7', waits('42\n>>>')),
    input('exit()', done('')),
  ),
  rule(
    'RT230',
    'a program that reads keys is sent the Enter of a keyboard, a shell that reads a line a line',
    run(`as_it_was=$(stty -g); stty raw -echo; head -c 3 | od -An -c; stty "$as_it_was"`, waits('')),
    input('ab', done(String.raw`   a   b  \r`)),
    run('stty -icrnl -echo; IFS= read -r line; stty "$as_it_was"; printf "<%q>" "$line"', waits('')),
    input('a b', done(String.raw`<a\ b>`)),
  ),
  rule('RT35', 'cat without arguments', run('cat', waits('')), input('line', waits('line')), input('C-d', done(''))),
  rule(
    'RT35',
    'a password, whose answer is not echoed',
    run(`python3 -c 'import getpass; print(len(getpass.getpass()))'`, waits('Password:')),
    input('hunter2', done('\n7')),
  ),
  rule(
    'RT35',
    'an editor that git opens',
    run(
      'git init -q g && cd g && GIT_EDITOR=vim.tiny git -c user.name=a -c user.email=a@b commit -q --allow-empty',
      waits(/Please enter the commit message/),
    ),
    input('ithe message', waits(/^the message\n/)),
    input('Escape', waits(/^the message\n/)),
    input(':wq', { exitCode: 0 }),
    run('git log --format=%s; cd ..; rm -rf g', 'the message'),
  ),
  rule('RT35', 'a confirmation', run('touch f; rm -i f', waits(/^rm: remove .*\?$/)), input('y', done(''))),
  rule('RT35', 'the first of a pipe', run('cat | wc -l', waits('')), input('C-d', done('0'))),
  rule('RT35', 'the last of a pipe', run('echo a | (read -r x; read -r y </dev/tty; echo "$x$y")', waits('')), input('b', done('ab'))),
  rule('RT35', 'sleep waits for nothing', run('sleep 300', silent, { timeout: 4 }), input('C-c', interrupted)),
  rule('RT35', 'nor does who reads a pipe', run('sleep 300 | cat', silent, { timeout: 4 }), input('C-c', interrupted)),
  rule('RT35', 'nor who reads a file', run('mkfifo q; cat q', silent, { timeout: 4 }), input('C-c', interrupted), run('rm q', '')),
  rule(
    'RT35',
    'a timeout is kept, and what waits is said',
    run(
      'read -r x',
      { content: '', exitCode: -1, suffix: hint('The time of 3 seconds is over; the command is still running and waits for input.') },
      { timeout: 3 },
    ),
    input('x', done('')),
  ),
]);
