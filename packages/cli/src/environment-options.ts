/** Options that stand for a name of the environment: the server's configuration has one reader, and flags speak to it. */
export interface EnvironmentOptions {
  readonly port?: string;
  readonly host?: string;
  readonly workspace?: string;
  readonly home?: string;
  readonly model?: string;
  readonly runtime?: string;
  readonly driver?: string;
  readonly keyFile?: string;
  readonly configFile?: string;
  readonly trace?: string;
}

const NAMES = {
  port: 'PORT',
  host: 'HOST',
  workspace: 'WORKSPACE_BASE',
  home: 'TENDON_HOME',
  model: 'LLM_MODEL',
  runtime: 'RUNTIME',
  driver: 'RUNTIME',
  keyFile: 'TENDON_EXECUTOR_KEY_FILE',
  configFile: 'TENDON_CONFIG',
  trace: 'OTEL_EXPORTER_OTLP_ENDPOINT',
} as const satisfies Record<keyof EnvironmentOptions, string>;

/** The environment with the given options in it. */
export function withOptions(env: NodeJS.ProcessEnv, options: EnvironmentOptions): NodeJS.ProcessEnv {
  const given = Object.entries(NAMES).flatMap(([option, name]) => {
    const value = options[option as keyof EnvironmentOptions];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...env, ...Object.fromEntries(given) };
}
