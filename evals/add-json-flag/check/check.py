import json
import subprocess


def run(*arguments):
    done = subprocess.run(["python3", "count_words.py", *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


assert run("notes/a.txt", "notes/b.txt") == (0, "notes/a.txt: 3\nnotes/b.txt: 2\n", "")
code, out, _ = run("--json", "notes/a.txt", "notes/b.txt")
assert code == 0 and json.loads(out) == {"notes/a.txt": 3, "notes/b.txt": 2, "total": 5}, out
code, out, err = run("--json", "notes/a.txt", "notes/none.txt")
assert code == 1 and json.loads(out) == {"notes/a.txt": 3, "total": 3} and "notes/none.txt" in err
code, out, err = run("notes/none.txt", "notes/b.txt")
assert code == 1 and out == "notes/b.txt: 2\n" and "notes/none.txt" in err and "Traceback" not in err
