import type { Runtime } from '@tendon/core';
import type { LinesToEdit } from '@tendon/protocol/executor-api';
import { askJson, type ExecutorConnection } from '../transport/executor-connection.ts';

const DEADLINE_MS = 120_000;
const LIST_DEADLINE_MS = 30_000;

/** Files of one sandbox, by its executor, whose answers are checked. */
export function createExecutorFiles(connection: Pick<ExecutorConnection, 'ask'>): Runtime['files'] {
  const pathOf = (path: string): string => `/files?path=${encodeURIComponent(path)}`;
  return {
    async list(path, { signal }) {
      const body = JSON.stringify({ path });
      return checkNames(await askJson(connection, { method: 'POST', path: '/list_files', body, signal, deadlineMs: LIST_DEADLINE_MS }));
    },
    read: (path, { signal, maxBytes }) => connection.ask({ method: 'GET', path: pathOf(path), signal, maxBytes, deadlineMs: DEADLINE_MS }),
    async write(path, body, { signal }) {
      await connection.ask({ method: 'PUT', path: pathOf(path), body, signal, deadlineMs: DEADLINE_MS });
    },
    async linesToEdit(path, range, { signal }) {
      const body = JSON.stringify({ path, ...range });
      return checkLines(await askJson(connection, { method: 'POST', path: '/lines_to_edit', body, signal }));
    },
  };
}

function checkNames(answer: unknown): readonly string[] {
  if (!Array.isArray(answer) || !answer.every((name) => typeof name === 'string')) throw new Error('the sandbox did not list the folder');
  return answer;
}

function checkLines(answer: unknown): LinesToEdit {
  const { state, text, first, last, version, reason } = (answer ?? {}) as Record<string, unknown>;
  if (state === 'none') return { state };
  if (state === 'refused' && typeof reason === 'string') return { state, reason: reason.slice(0, 4096) };
  if (state === 'lines' && typeof text === 'string' && typeof first === 'number' && typeof last === 'number' && typeof version === 'string')
    return { state, text, first, last, version };
  throw new Error('the sandbox did not show the lines');
}
