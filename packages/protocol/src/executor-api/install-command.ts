import type { PythonKind } from './python-kind.ts';
import { shellQuote } from './shell-quote.ts';

const PACKAGE = 'ipykernel>=6.17,<8';
const HOW = '--no-input --quiet --progress-bar off --disable-pip-version-check --retries 1 --timeout 20';

/** Shell text that puts `ipykernel` into `<folder>/<tag>`, whole or not at all, with the first of these Pythons that has a pip. */
export function installCommand({ tag, version }: PythonKind, folder: string, pythons: readonly string[]): string {
  const [target, fresh] = [shellQuote(`${folder}/${tag}`), shellQuote(`${folder}/${tag}.new`)];
  const wheels = `--only-binary :all: --implementation cp --python-version ${version}`;
  return `rm -rf ${fresh}; mkdir -p ${shellQuote(folder)} || exit 1
for python in ${pythons.map(shellQuote).join(' ')}; do
  "$python" -m pip --version >/dev/null 2>&1 || continue
  "$python" -m pip install ${HOW} ${wheels} --target ${fresh} ${shellQuote(PACKAGE)} && rm -rf ${target} && mv ${fresh} ${target}
  exit
done
exit 1`;
}
