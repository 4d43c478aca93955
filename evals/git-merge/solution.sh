git merge -q feature || true
printf 'echo "Welcome, $1!"\n' > greet.sh
git add greet.sh
git commit -qm "Merge the feature"
bash test.sh && git log --oneline --graph
