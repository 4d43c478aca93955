import { withOptions } from './environment-options.ts';
import { EXIT, type AddCommand } from './add-command.ts';
import type { Finding } from './doctor/check-machine.ts';

const HELP = `
It starts each kind of sandbox, uses it once and ends it. Exit code: 0 everything that is configured works, 1 something does not, 2 wrong usage.`;

export const doctorCommand: AddCommand = (program, end) => {
  program
    .command('doctor')
    .description('check what works on this machine, and explain how to fix what does not')
    .option('--cluster', 'check instead the database at TENDON_DATABASE_URL and all servers on it')
    .option('--home <folder>', 'where conversations and settings are stored (default ~/.tendon)')
    .addHelpText('after', HELP)
    .action(async ({ cluster = false, ...options }: { readonly cluster?: boolean; readonly home?: string }) => {
      const { readFiledConfig } = await import('@tendon/server/headless');
      const read = await readFiledConfig(withOptions(process.env, options));
      if (!read.ok) {
        process.stderr.write(`${read.problems.join('\n')}\n`);
        return end(EXIT.usage);
      }
      if (cluster) {
        const { checkCluster } = await import('./doctor/check-cluster.ts');
        return end(show(await checkCluster(read.config)));
      }
      const [{ checkMachine }, { checkHosts }, { checkDriver }] = await Promise.all([
        import('./doctor/check-machine.ts'),
        import('./doctor/check-hosts.ts'),
        import('./doctor/check-driver.ts'),
      ]);
      const findings = [...(await checkMachine(read.config)), ...(await checkHosts(read.config))];
      const { executorHosts, kubernetes } = read.config;
      const others = [...(executorHosts.length > 0 ? (['remote'] as const) : []), ...(kubernetes ? (['kubernetes'] as const) : [])];
      const drivers = ['local', 'docker', 'none', ...others] as const;
      for (const runtime of drivers) {
        const found = await checkDriver(runtime, environmentOf(read.env, runtime === read.config.runtime));
        findings.push({ ...found, ...(!found.ok && runtime !== read.config.runtime && { ok: true, isNote: true }) });
      }
      end(show(findings));
    });
};

/** Prints them; returns the exit code. */
function show(findings: readonly Finding[]): number {
  for (const { name, ok, says, isNote } of findings) {
    const plain = ok ? 'ok  ' : 'FAIL';
    const mark = isNote ? 'note' : plain;
    process.stdout.write(`${mark}  ${name}: ${says}\n`);
  }
  return findings.every(({ ok }) => ok) ? EXIT.done : EXIT.failed;
}

/** How containers are to be made; nothing large is fetched for what is not in use. */
function environmentOf(env: NodeJS.ProcessEnv, isConfigured: boolean): Readonly<Record<string, string | undefined>> {
  const own = Object.entries(env).filter(([name]) => /^(?:DOCKER_HOST$|KUBECONFIG$|KUBERNETES_SERVICE_|SANDBOX_)/.test(name));
  return { ...Object.fromEntries(own), ...(!isConfigured && { SANDBOX_PULL: 'never' }) };
}
