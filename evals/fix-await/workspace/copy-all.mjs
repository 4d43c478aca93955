/** pairs: [from, to][]; copy: (from, to) => Promise. */
export async function copyAll(pairs, copy) {
  let done = 0;
  pairs.forEach(async ([from, to]) => {
    await copy(from, to);
    done++;
  });
  return done;
}
