import { shellQuote } from '@tendon/protocol/executor-api';

/**
 * Python that mends how ipykernel takes what a cell prints; it runs before the kernel does.
 *
 * 1. What is printed at once goes in pieces: it is one message otherwise, and a message may be too long to be read.
 * 2. What children write to the standard streams comes through a pipe that a thread reads. A cell ends with a flush of both streams:
 *    it waits until the pipe is empty, or the output would come after the cell. Children that never stop are waited for no longer
 *    than FLUSH_SECONDS.
 * 3. Bytes of children need not be text, and a character may be split between two reads: ipykernel's own thread would end by that,
 *    and the children then wait for a reader that is gone.
 */
const STREAM_PATCH = String.raw`
import codecs, select, threading, time
from ipykernel.iostream import OutStream
PIECE, FLUSH_SECONDS, write, flush = 1 << 22, 0.5, OutStream.write, OutStream.flush
taking = threading.Lock()
def write_in_pieces(self, string):
    if not isinstance(string, str):
        return write(self, string)
    for at in range(0, len(string), PIECE):
        piece = string[at:at + PIECE]
        write(self, piece)
        self.unsent = getattr(self, "unsent", 0) + len(piece)
        if self.unsent >= PIECE:
            self.unsent = 0
            flush(self)
    return len(string)
def has_more(self):
    return bool(select.select([self._fid], [], [], 0)[0])
def take(self):
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    while self._should_watch:
        select.select([self._fid], [], [])
        with taking:
            data = os.read(self._fid, 1 << 16)
            if not data or not self._should_watch:
                return
            self.write(decode(data))
        os.write(self._original_stdstream_copy, data)
def flush_all(self):
    if getattr(self, "_fid", None) is not None and threading.current_thread() is threading.main_thread():
        end = time.monotonic() + FLUSH_SECONDS
        while time.monotonic() < end:
            with taking:
                if not has_more(self):
                    break
            time.sleep(0.0005)
    flush(self)
OutStream.write = write_in_pieces
if hasattr(OutStream, "_watch_pipe_fd"):
    OutStream._watch_pipe_fd, OutStream.flush = take, flush_all
`;

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
