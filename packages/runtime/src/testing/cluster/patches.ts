export type Json = Readonly<Record<string, unknown>> | readonly unknown[];

/** RFC 7386. */
export function mergePatch<T extends object>(target: T, patch: Json): T {
  const merged = { ...target } as Record<string, unknown>;
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else if (typeof value === 'object' && !Array.isArray(value)) merged[name] = mergePatch((merged[name] ?? {}) as object, value as Json);
    else merged[name] = value;
  }
  return merged as T;
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

/** RFC 6902, without arrays on the path. */
export function applyOperations<T extends object>(target: T, operations: readonly unknown[]): T {
  const copy = structuredClone(target) as Record<string, unknown>;
  for (const { op, path, value } of operations as readonly Operation[]) {
    const steps = path
      .slice(1)
      .split('/')
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = steps.pop()!;
    let at = copy;
    for (const step of steps) at = (at[step] ??= {}) as Record<string, unknown>;
    if (op === 'remove') delete at[last];
    else at[last] = value;
  }
  return copy as T;
}
