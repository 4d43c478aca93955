import os
import shutil
import subprocess
import tempfile

GUARD = "def is_leap(year):\n    if year < 1:\n        raise ValueError()\n"
WRONG = [
    GUARD + "    return year % 4 == 0\n",
    GUARD + "    return year % 4 == 0 and year % 100 != 0\n",
    GUARD + "    return year % 400 == 0\n",
    GUARD + "    return True\n",
    GUARD + "    return False\n",
    "def is_leap(year):\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)\n",
    GUARD.replace("< 1", "< 0") + "    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)\n",
]


def passes(source):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy("test_leap.py", folder)
        with open(os.path.join(folder, "leap.py"), "w") as file:
            file.write(source)
        return subprocess.run(["python3", "-m", "unittest", "-q", "test_leap"], cwd=folder, capture_output=True).returncode == 0


with open("leap.py") as file:
    right = file.read()
assert "400" in right and passes(right), "the tests fail for the right one"
for number, source in enumerate(WRONG):
    assert not passes(source), f"wrong implementation {number} passes"
