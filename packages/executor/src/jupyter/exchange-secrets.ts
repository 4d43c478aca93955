type Variables = Readonly<Record<string, string>>;

const SCRIPT = `import os
for name, value in old.items():
    if os.environ.get(name) == value: del os.environ[name]
for name, value in new.items(): os.environ.setdefault(name, value)`;

/** A cell that takes variables out of the kernel's environment and puts others in; what the user has set there stays. */
export function exchangeSecrets(old: Variables, fresh: Variables): string {
  const variables = (given: Variables): string => `__import__("json").loads(${JSON.stringify(ascii(JSON.stringify(given)))})`;
  return `exec(${JSON.stringify(SCRIPT)}, {"old": ${variables(old)}, "new": ${variables(fresh)}})`;
}

/** JSON that Python reads alike in a text of its own, where halves of characters would stay halves. */
function ascii(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
