/**
 * A glob as a regular expression for a path with `/` between its names: `*` and `?` stay within a name, `**` crosses folders, `{a,b}`
 * and `[a-z]` choose. Without a `/` it is meant for names in any folder. Total: what cannot be a glob means itself.
 */
export function globPattern(glob: string): RegExp {
  const isAnchored = glob.replace(/\/$/, '').includes('/');
  const source = toSource(glob.replace(/^\//, ''));
  const whole = `^${isAnchored ? '' : '(?:.*/)?'}${source}$`;
  try {
    return new RegExp(whole, 's');
  } catch {
    return new RegExp(`^${glob.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}$`, 's');
  }
}

const SPECIAL = /[\\^$.*+?()[\]{}|]/;

function toSource(glob: string): string {
  let source = '';
  let depth = 0;
  for (let at = 0; at < glob.length; at += 1) {
    const rest = glob.slice(at);
    const char = glob[at]!;
    const set = /^\[([!^]?)(\]?[^\]]*)\]/.exec(rest);
    if (rest.startsWith('**/')) {
      source += '(?:.*/)?';
      at += 2;
    } else if (rest.startsWith('**')) {
      source += '.*';
      at += 1;
    } else if (char === '*') source += '[^/]*';
    else if (char === '?') source += '[^/]';
    else if (set) {
      source += `[${set[1] ? '^/' : ''}${set[2]!.replaceAll(/[\\\][^]/g, String.raw`\$&`)}]`;
      at += set[0].length - 1;
    } else if (char === '{' && rest.includes('}')) {
      source += '(?:';
      depth += 1;
    } else if (char === '}' && depth > 0) {
      source += ')';
      depth -= 1;
    } else if (char === ',' && depth > 0) source += '|';
    else if (char === '\\' && at + 1 < glob.length) source += literal(glob[(at += 1)]!);
    else source += literal(char);
  }
  return source + ')'.repeat(depth);
}

function literal(char: string): string {
  return SPECIAL.test(char) ? `\\${char}` : char;
}
