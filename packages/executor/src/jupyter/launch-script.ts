import { shellQuote } from '@tendon/protocol/executor-api';
import { STREAM_PATCH } from './stream-patch.ts';

/**
 * What the shell's Python runs to become a kernel. `ipykernel` may come from that Python itself or, after its own packages, from
 * one of the folders given as arguments: so the cells see the agent's environment and not one of ours.
 *
 * Arguments: connection file, folders…
 */
const LAUNCH_SCRIPT = String.raw`
import os, sys
sys.path[:] = [entry for entry in sys.path if entry != ""]  # a workspace's own random.py is not for us
connection, folders = sys.argv[1], sys.argv[2:]
try:
    os.setsid()  # so that it and its children can be interrupted and ended as a group
except OSError:
    pass
import importlib.util, site
if sys.prefix == sys.base_prefix and site.ENABLE_USER_SITE is not False:
    try:  # what %pip installs goes there, and is looked for only where the folder exists from the start
        os.makedirs(site.getusersitepackages(), exist_ok=True)
        site.addsitedir(site.getusersitepackages())
    except OSError:
        pass
tag = sys.implementation.cache_tag or "python"
for folder in folders:
    if importlib.util.find_spec("ipykernel") is not None:
        break
    sys.path.append(os.path.join(folder, tag))
    importlib.invalidate_caches()
if importlib.util.find_spec("ipykernel") is None:
    sys.stderr.write(sys.executable + "\n" + tag + "\n" + "%d.%d" % sys.version_info[:2] + "\n")
    sys.exit(86)
from ipykernel.kernelapp import IPKernelApp
${STREAM_PATCH}sys.argv[:] = ["ipykernel_launcher", "-f", connection]
IPKernelApp.launch_instance(argv=[
    "-f", connection,
    "--HistoryManager.enabled=False",
    "--InteractiveShell.colors=NoColor",
])
`;

/** Exit codes of the script and of the shell command around it. */
export const EXIT_NO_IPYKERNEL = 86;
export const EXIT_NO_PYTHON = 85;

/** A command for the shell, in whose environment it looks for the Python. The arguments are quoted. */
export function launchCommand(connectionFile: string, folders: readonly string[]): string {
  const quoted = [LAUNCH_SCRIPT, connectionFile, ...folders].map(shellQuote).join(' ');
  return `for python in python python3; do command -v "$python" >/dev/null 2>&1 && exec "$python" -c ${quoted}; done; exit ${EXIT_NO_PYTHON}`;
}
