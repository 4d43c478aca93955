FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch -f --index-filter 'git rm -q --cached --ignore-unmatch config/key.pem' main
git update-ref -d refs/original/refs/heads/main
git reflog expire --expire=now --all
git gc -q --prune=now
