export type { ExecutorConfig } from './executor-api.ts';
