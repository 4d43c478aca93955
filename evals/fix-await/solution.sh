cat > copy-all.mjs <<'END'
/** pairs: [from, to][]; copy: (from, to) => Promise. */
export async function copyAll(pairs, copy) {
  const queue = [...pairs];
  let done = 0;
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      await copy(...next);
      done++;
    }
  };
  await Promise.all([work(), work()]);
  return done;
}
END
