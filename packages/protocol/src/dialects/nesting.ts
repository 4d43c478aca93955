/** Deeper than any client's frame, far from where writing JSON would exhaust the stack. */
const MAX_NESTING = 64;

/** Whether a value parsed from JSON is nested deeper than `max`. Level by level, so that its own depth costs no stack. */
export function isNestedDeeper(value: unknown, max: number = MAX_NESTING): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === max) return true;
    level = level.flatMap((container) => Object.values(container).filter(isContainer));
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
