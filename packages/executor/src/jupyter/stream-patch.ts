/**
 * Python that mends how ipykernel takes what a cell prints; it runs before the kernel does.
 *
 * 1. What is printed at once goes in pieces: it is one message otherwise, and a message may be too long to be read.
 * 2. What children write to the standard streams comes through a pipe that a thread reads. A cell ends with a flush of both streams:
 *    it waits until the pipe is empty, or the output would come after the cell. Children that never stop are waited for no longer
 *    than PATIENCE.
 * 3. Bytes of children need not be text, and a character may be split between two reads: ipykernel's own thread would end by that,
 *    and the children then wait for a reader that is gone.
 */
export const STREAM_PATCH = String.raw`
import codecs, select, threading, time
from ipykernel.iostream import OutStream
PIECE, PATIENCE, write, flush = 1 << 22, 0.5, OutStream.write, OutStream.flush
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
        end = time.monotonic() + PATIENCE
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
