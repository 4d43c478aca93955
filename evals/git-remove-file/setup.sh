export GIT_AUTHOR_NAME=Dev GIT_AUTHOR_EMAIL=dev@example.org GIT_COMMITTER_NAME=Dev GIT_COMMITTER_EMAIL=dev@example.org
export GIT_AUTHOR_DATE="2026-01-01T00:00:00Z" GIT_COMMITTER_DATE="2026-01-01T00:00:00Z"
git init -q -b main
git config user.name Dev
git config user.email dev@example.org

mkdir config
echo one > app.txt && git add . && git commit -qm "Begin"
echo THE-SECRET-KEY > config/key.pem && echo two >> app.txt && git add . && git commit -qm "Configure"
echo three >> app.txt && git add . && git commit -qm "Go on"
git rm -q config/key.pem && echo four >> app.txt && git add . && git commit -qm "Remove the key"
