import type { Check } from '../../../check.ts';
import { cell, run, scenarios } from '../../play.ts';

/** The functions that every kernel begins with. */
export const skills: readonly Check[] = scenarios('v0-socketio', [
  {
    id: 'skills-names',
    title: 'the functions of `agent_skills` are in every new kernel',
    cites: ['RT182'],
    steps: () => [
      cell('print(all(callable(one) for one in (open_file, goto_line, scroll_down, search_dir, search_file, find_file)))', /True/),
      cell('print("os" in globals(), "re" in globals())', /False False/),
    ],
  },
  {
    id: 'skills-window',
    title: 'a file is shown in a window that moves, and searches leave out what is hidden',
    cites: ['RT183'],
    steps: (at) => [
      run(`cd ${at}; seq 1 500 | sed 's/^/line /' > long.txt; mkdir .git sub; echo needle > .git/a; echo needle > sub/b`, ''),
      cell('open_file("long.txt", 250)', /line 250\b/),
      cell('scroll_down()', /line 350\b/),
      cell('search_dir("needle")', /^(?![^]*\.git)[^]*sub\/b/),
    ],
  },
  {
    id: 'skills-edit',
    title: 'an edit of a skill is refused when a file that parsed would not parse any more',
    cites: ['RT184'],
    steps: (at) => [
      run(`cd ${at}; printf 'def f():\\n    return 1\\n' > f.py`, ''),
      cell('edit_file_by_replace("f.py", "return 1", "return (1")', { content: /\S/ }),
      run('cat f.py', 'def f():\n    return 1'),
      cell('edit_file_by_replace("f.py", "return 1", "return 2")', { content: /\S/ }),
      run('cat f.py', 'def f():\n    return 2'),
    ],
  },
  {
    id: 'skills-refusals',
    title: 'what a skill refuses is one line that begins with `ERROR:`',
    cites: ['RT185'],
    steps: (at) => [run(`cd ${at}`, ''), cell('open_file("none.txt")', /^ERROR: /), cell('parse_pdf("none.pdf")', /^ERROR: /)],
  },
]);
