// Names the tests that passed only at their second try: the run may go on, the test is a defect to be mended.

export default class FlakyReporter {
  onTestRunEnd(modules) {
    const flaky = modules.flatMap((module) => [...module.children.allTests()]).filter((test) => test.diagnostic()?.flaky);
    if (flaky.length === 0) return;
    process.stdout.write(`\nPassed only at the second try; each is a defect to be mended:\n`);
    for (const test of flaky) {
      const [cause] = test.result().errors ?? [];
      const why = [cause?.message, cause?.diff].filter(Boolean).join('\n').split('\n').slice(0, 20);
      process.stdout.write(`  ${test.module.relativeModuleId} > ${test.fullName}\n${why.map((line) => `    ${line}\n`).join('')}`);
    }
  }
}
