set -e
cd photos
test "$(LC_ALL=C ls -1 | tr '\n' ,)" = "2026-03-01-01.jpg,2026-03-01-02.jpg,2026-11-30-10.jpeg,IMG last.jpg,notes.txt,"
test "$(cat 2026-03-01-01.jpg 2026-03-01-02.jpg 2026-11-30-10.jpeg | tr '\n' ,)" = "a,b,c,"
