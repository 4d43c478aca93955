export GIT_AUTHOR_NAME=Dev GIT_AUTHOR_EMAIL=dev@example.org GIT_COMMITTER_NAME=Dev GIT_COMMITTER_EMAIL=dev@example.org
export GIT_AUTHOR_DATE="2026-01-01T00:00:00Z" GIT_COMMITTER_DATE="2026-01-01T00:00:00Z"
git init -q -b main
git config user.name Dev
git config user.email dev@example.org

printf 'echo "Hello, $1."\n' > greet.sh
printf 'test "$(bash greet.sh Ana)" = "Welcome, Ana!" && test -f extra.txt\n' > test.sh
git add . && git commit -qm "Greet"
git checkout -q -b feature
printf 'echo "Welcome, $1."\n' > greet.sh && echo extra > extra.txt && git add . && git commit -qm "Welcome"
git checkout -q main
printf 'echo "Hello, $1!"\n' > greet.sh && git add . && git commit -qm "Be loud"
