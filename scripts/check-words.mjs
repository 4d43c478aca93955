#!/usr/bin/env node
// Holds the vocabulary: words that were replaced stay out of names, comments, documents and screens.
//   node scripts/check-words.mjs              the check
//   node scripts/check-words.mjs told         where a word still is
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The word, what is written instead, and its pattern. Patterns see `isRemoteHost` as `is Remote Host`, in any letter case. */
const WORDS = {
  'server of tools': ['MCP server; external tools', /\bservers? of tools\b|\btool servers?\b|\boutside tools\b/gi],
  door: ['endpoint, listener, HTTP server, auth guard', /\bdoors?\b/gi],
  wish: ['params, request', /\bwish(?:es)?\b/gi],
  'way out': ['egress proxy', /\bways? out\b/gi],
  patience: ['timeouts; in tests waitFor', /\bpatience\b|\bpatiently\b/gi],
  nest: ['PID namespace', /\bnests?\b/gi],
  elsewhere: ['remote', /\belsewhere\b/gi],
  room: ['open conversation; space', /(?<!\b(?:makes?|made|making|no|of) )\brooms?\b/gi],
  beside: ['sidecar, detached process', /\bbeside[- ](?:container|options|process)|\bprocess(?:es)? beside\b|-beside\b/gi],
  carried: ['bundled, injected', /\bcarried\b(?! (?:out|over|on)\b)/gi],
  link: ['transport (host to executor)', /\bruntime\/src\/link\//gi],
  lane: ['Mutex, SerialQueue', /\blanes?\b|\bstep[- ]?queue\b|\bin Turn\b/g],
  sleep: [
    'suspend and resume (frozen in place), hibernate and restore (ended, state stored)',
    /\b[Aa]sleep\b|\b[Ss]leeping\b|\b[Ss]lept\b|(?<!\bno (?:test )?)\b[Ss]leeps\b|\b[Aa]wake\b|\b[Dd]oz(?:e|es|ed|ing)\b|\b[Ss]t(?:and|ands|anding|ood)[- ]?[Ss]till\b|\b[Ss]andbox[- ][Rr]est\b|\b(?:to|put|go|may|can|let) sleep\b|[a-z] Sleep\b|\b[Ss]leep (?:[Ww]ish|[Rr]equest|[Rr]eason)/g,
  ],
  news: ['notice', /\bnews\b/gi],
  face: ['card', /\bfaces?\b/gi],
  'dock, words': ['composer, copy (folders of the web app)', /\bweb\/src\/(?:dock|words)\//gi],
  told: ['reported, notified, shown, sent', /\btold\b|\btells?\b|\btelling\b|\bsaid\b/gi],
  kept: ['stored, persisted, retained', /\bkept\b/gi],
  whoever: ['the caller, the client, the user', /\bwhoever\b|\bwho asks\b/gi],
  'token book': ['token store', /\b(?:access|token) books?\b/gi],
  'keys that drive': ['keys with scope write', /\bkeys? that (?:may )?drives?\b/gi],
  'founding document': ['the seed document, by its name', /\bfounding documents?\b/gi],
  'W0–W5': ["the dialect's name with its date", /\bW[0-5]\b/g],
  'deed, scene': ['step, scenario', /\bdeeds?\b|\bscenes?\b/gi],
  'in the making': ['partial, streaming', /\bin the making\b/gi],
  'error that can be shown': ['user-facing error', /\berrors? that (?:can|may) be shown\b/gi],
  'can not': ['cannot', /\bcan not\b/gi],
};

/**
 * What others define and we only spell: states, fields and folders on the wire and in stores, the command and timer called sleep, and names of libraries.
 * It is taken out of a line before the line is searched.
 */
const FACTS = [
  /\bkept: |\.kept\b|"kept"/g,
  /['`]carried['-]/g,
  /['`](?:tendon-)?(?:asleep|awake)(?:\\n)?['`]/g,
  /[.`]sl(?:ept|eeps)\b|\bsl(?:ept|eeps)\??:/g,
  /\bawake_for\b/g,
  /\b(?:setTimeout as |await |do |exec |\(|; )sleep\b/g,
  /\bW3CTraceContextPropagator\b/g,
];

/** Generated pages repeat titles of their sources; facts and recordings are other people's words. */
const EXCLUDED =
  /^(?:docs\/conformance\.md|docs\/spec\/(?:threats|rules)\.md|scripts\/check-words\.mjs|test\/conformance\/facts\/|.*\/fixtures\/)/;

/** The path counts too: folders and files have names. */
function linesOf(file) {
  return [file, ...readFileSync(join(root, file), 'utf8').split('\n')].map((line) =>
    FACTS.reduce((left, fact) => left.replace(fact, ''), line).replace(/([a-z0-9])([A-Z])/g, '$1 $2'),
  );
}

const files = execFileSync('git', ['ls-files', '-z', '*.ts', '*.tsx', '*.mjs', '*.md'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((file) => file !== '' && !EXCLUDED.test(file));

function show(word) {
  for (const file of files)
    for (const [index, line] of linesOf(file).entries())
      if (line.match(WORDS[word][1])) process.stdout.write(`${file}:${index}: ${line.trim().slice(0, 160)}\n`);
}

function check() {
  const texts = files.map((file) => linesOf(file).join('\n'));
  let left = 0;
  for (const [word, [instead, pattern]] of Object.entries(WORDS)) {
    const found = texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0);
    left += found;
    if (found > 0) process.stdout.write(`"${word}": ${found}. Write ${instead} (node scripts/check-words.mjs '${word}' lists them)\n`);
  }
  if (left > 0) process.exitCode = 1;
  process.stdout.write(`${left} replaced words in ${files.length} files\n`);
}

const [argument] = process.argv.slice(2);
if (argument === undefined) check();
else if (Object.hasOwn(WORDS, argument)) show(argument);
else {
  process.stdout.write(`no such word: ${argument}; there are ${Object.keys(WORDS).join(', ')}\n`);
  process.exitCode = 1;
}
