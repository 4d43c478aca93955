import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const NEEDS_ENGINE = /testing\/containers\b/;
const NEEDS_DOM = /@vitest-environment happy-dom/;

/** Of those that take long, in a run of all of them; written by `node scripts/test.mjs --record`. */
const SECONDS = new Map(
  Object.entries(JSON.parse(readFileSync(join(import.meta.dirname, 'seconds-of-files.json'), 'utf8')) as Record<string, number>),
);
const secondsOf = ({ moduleId }: TestSpecification): number => SECONDS.get(relative(join(import.meta.dirname, '..'), moduleId)) ?? 0;

/**
 * The thorough files come before the quick ones, which fill what is left at the end: a worker loads what the files of a project share once
 * as long as the next file is of the same project. The longest come first: one that came last would have the machine to itself. Files that
 * need the container engine come evenly among the others: only one of them has it at a time, and those that wait for it would keep their
 * workers from all other files. Those that need a DOM come together at the end: a worker ends when the next file needs another environment.
 */
export class OrderOfFiles extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the one of vitest, no array's
    const sorted = await super.sort(files);
    const isQuick = ({ project }: TestSpecification): boolean => project.name === 'quick';
    const inDom = new Set(sorted.filter((file) => says(file, NEEDS_DOM)));
    const others = sorted.filter((file) => !inDom.has(file));
    const thorough = spread(others.filter((file) => !isQuick(file)));
    return [...thorough, ...others.filter(isQuick), ...[...inDom].filter((file) => !isQuick(file)), ...[...inDom].filter(isQuick)];
  }
}

function says({ moduleId }: TestSpecification, words: RegExp): boolean {
  return words.test(readFileSync(moduleId, 'utf8'));
}

function spread(files: readonly TestSpecification[]): TestSpecification[] {
  const longestFirst = files.toSorted((a, b) => secondsOf(b) - secondsOf(a));
  const needs = new Set(longestFirst.filter((file) => says(file, NEEDS_ENGINE)));
  const waiting = [...needs];
  const others = longestFirst.filter((file) => !needs.has(file));
  const gap = Math.ceil(others.length / (waiting.length + 1));
  return [...others.flatMap((file, index) => [...(index % gap === 0 ? waiting.splice(0, 1) : []), file]), ...waiting];
}
