set -e
printf 'a.txt ok\nb.txt changed\nc.txt missing\nd.txt ok\ne f.txt unlisted\n' | diff - report.txt
