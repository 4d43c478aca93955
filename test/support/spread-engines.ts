import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const NEEDS_ENGINE = /testing\/(?:open-engine|docker-under-test)\.ts'/;

/**
 * Files that need the container engine come evenly among the others: only one of them has it at a time, and those that wait for it
 * would keep their workers from all other files.
 */
export class SpreadEngines extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the one of vitest, no array's
    const sorted = await super.sort(files);
    const needs = new Set(sorted.filter(({ moduleId }) => NEEDS_ENGINE.test(readFileSync(moduleId, 'utf8'))));
    const waiting = [...needs];
    const others = sorted.filter((file) => !needs.has(file));
    const gap = Math.ceil(others.length / (waiting.length + 1));
    return [...others.flatMap((file, index) => [...(index % gap === 0 ? waiting.splice(0, 1) : []), file]), ...waiting];
  }
}
