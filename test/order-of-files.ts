import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const NEEDS_ENGINE = /testing\/containers\b/;

/** They take minutes, most of it waiting: one that came last would have the machine to itself. */
const LONGEST = /(?:own-levels\.slow|kill-at-stage)\.test\.ts$/;

/**
 * The thorough files come before the quick ones, which fill what is left at the end: a worker loads what the files of a project share once
 * as long as the next file is of the same project. The longest come first. Files that need the container engine come evenly among the
 * others: only one of them has it at a time, and those that wait for it would keep their workers from all other files.
 */
export class OrderOfFiles extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the one of vitest, no array's
    const sorted = await super.sort(files);
    const quick = sorted.filter(({ project }) => project.name === 'quick');
    return [...spread(sorted.filter((file) => !quick.includes(file))), ...quick];
  }
}

function spread(files: readonly TestSpecification[]): TestSpecification[] {
  const needs = new Set(files.filter(({ moduleId }) => NEEDS_ENGINE.test(readFileSync(moduleId, 'utf8'))));
  const waiting = [...needs];
  const longest = files.filter(({ moduleId }) => LONGEST.test(moduleId));
  const others = [...longest, ...files.filter((file) => !needs.has(file) && !longest.includes(file))];
  const gap = Math.ceil(others.length / (waiting.length + 1));
  return [...others.flatMap((file, index) => [...(index % gap === 0 ? waiting.splice(0, 1) : []), file]), ...waiting];
}
