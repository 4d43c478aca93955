#!/bin/bash
echo $$ > lock
n=0
while true; do
  n=$((n + 1))
  echo $n >> "$1"
  sleep 0.1
done
