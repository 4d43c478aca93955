mkdir data
for name in a b c d; do echo "content of $name" > "data/$name.txt"; done
(cd data && sha256sum ./*.txt) > checksums.txt
echo more >> data/b.txt
rm data/c.txt
echo new > "data/e f.txt"
